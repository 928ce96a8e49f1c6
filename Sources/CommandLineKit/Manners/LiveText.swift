/// How a line is set off on a terminal that welcomes colours.
public enum LineStyle: Int, Sendable {
    /// As it should be: green.
    case good = 32
    /// Not decided yet: yellow.
    case pending = 33
    /// As it should not be: red.
    case bad = 31
    /// Of no concern: faint.
    case faint = 2
}

/// A line, and how it is set off.
public struct StyledLine: Sendable, Equatable {
    /// What it says; printable, without a newline.
    public let text: String
    /// How it is set off; nil for a plain line.
    public let style: LineStyle?

    /// Makes a line.
    public init(_ text: String, style: LineStyle? = nil) {
        self.text = text
        self.style = style
    }

    /// What is written to a terminal.
    ///
    /// - Parameter isStyled: Whether it welcomes colours.
    public func rendered(isStyled: Bool) -> String {
        guard isStyled, let style else { return text }
        return "\u{1B}[\(style.rawValue)m\(text)\u{1B}[0m"
    }
}

/// Lines on a terminal that are drawn anew in their place.
public struct LiveText: Sendable {
    private var drawn: (count: Int, terminal: Terminal)?

    /// Nothing is drawn yet.
    public init() {}

    /// What puts lines in the place of those that were drawn before.
    ///
    /// Lines that the terminal has no room for are left out, and counted in the last one: what has scrolled away cannot
    /// be drawn anew.
    ///
    /// - Parameters:
    ///   - lines: What is to be seen.
    ///   - terminal: Where; after a change of its size it is cleared, since it may have broken lines anew.
    public mutating func frame(_ lines: [StyledLine], on terminal: Terminal) -> String {
        var text = ""
        if let drawn, drawn.terminal != terminal {
            text = "\u{1B}[H"
        } else if let drawn, drawn.count > 0 {
            text = "\u{1B}[\(drawn.count)A\r"
        }
        let shown = fitting(lines, height: terminal.height)
        for line in shown {
            let cut = StyledLine(truncated(line.text, toWidth: terminal.width ?? .max), style: line.style)
            text += cut.rendered(isStyled: terminal.isStyled) + "\u{1B}[K\n"
        }
        drawn = (shown.count, terminal)
        return text + "\u{1B}[J"
    }

    private func fitting(_ lines: [StyledLine], height: Int?) -> [StyledLine] {
        // The cursor stands in a line of its own.
        guard let height, lines.count > max(1, height - 1) else { return lines }
        let count = max(0, height - 2)
        return lines.prefix(count) + [StyledLine("… and \(lines.count - count) more", style: .faint)]
    }
}
