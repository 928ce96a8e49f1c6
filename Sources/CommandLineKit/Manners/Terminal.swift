import Glibc

/// What is known of the terminal, if there is one, behind a file descriptor.
public struct Terminal: Sendable, Equatable {
    /// Whether there is a terminal.
    public let isTerminal: Bool
    /// The terminal's columns; nil where there is no terminal, and nothing may be cut.
    public let width: Int?
    /// The terminal's lines; nil where it does not tell.
    public let height: Int?
    /// Whether colours and cursor movements are welcome: not on a dumb terminal, nor where `NO_COLOR` is set.
    public let isStyled: Bool
    /// Whether a line can be drawn anew: not on a dumb terminal, but whatever `NO_COLOR` says about colours.
    public let redraws: Bool

    /// The terminal of standard output.
    public static func standardOutput(environment: [String: String]) -> Terminal {
        Terminal(descriptor: STDOUT_FILENO, environment: environment)
    }

    /// The terminal of standard error.
    public static func standardError(environment: [String: String]) -> Terminal {
        Terminal(descriptor: STDERR_FILENO, environment: environment)
    }

    /// Looks at a file descriptor.
    public init(descriptor: Int32, environment: [String: String]) {
        var size = winsize()
        let isTerminal = isatty(descriptor) == 1
        let hasSize = isTerminal && ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0 && size.ws_col > 0
        self.init(
            isTerminal: isTerminal,
            columns: hasSize ? Int(size.ws_col) : nil,
            lines: hasSize && size.ws_row > 0 ? Int(size.ws_row) : nil,
            environment: environment
        )
    }

    /// Decides from what was seen; 80 columns where a terminal does not tell its size.
    init(isTerminal: Bool, columns: Int?, lines: Int? = nil, environment: [String: String]) {
        self.isTerminal = isTerminal
        height = isTerminal ? lines : nil
        // COLUMNS is what the user says, which goes before what the terminal says.
        let wanted = environment["COLUMNS"].flatMap { Int($0) }.flatMap { $0 > 0 ? $0 : nil }
        width = isTerminal ? wanted ?? columns ?? 80 : nil
        redraws = isTerminal && environment["TERM"] != "dumb"
        isStyled = redraws && environment["NO_COLOR"]?.isEmpty ?? true
    }
}

/// A line on stderr that says how far something is; shown on a terminal only, and gone when it is done.
public struct ProgressLine: Sendable {
    private let terminal: Terminal

    /// Makes a line that is not shown yet.
    ///
    /// - Parameter terminal: The terminal of standard error.
    public init(terminal: Terminal) {
        self.terminal = terminal
    }

    /// Shows a text in the place of the one before.
    public func show(_ text: String) {
        guard terminal.isStyled, let width = terminal.width else { return }
        StandardError.write("\r\u{1B}[K" + truncated(printable(text), toWidth: width - 1))
    }

    /// Removes the line.
    public func clear() {
        guard terminal.isStyled else { return }
        StandardError.write("\r\u{1B}[K")
    }
}
