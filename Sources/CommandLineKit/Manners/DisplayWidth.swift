/// How many columns of a terminal a string takes.
///
/// Wide East Asian letters and emoji take two (Unicode UAX #11), combining marks none.
public func displayWidth(_ text: String) -> Int {
    text.reduce(0) { $0 + displayWidth($1) }
}

/// A string cut to a number of columns, with an ellipsis where something is missing.
public func truncated(_ text: String, toWidth width: Int) -> String {
    guard displayWidth(text) > width else { return text }
    guard width > 0 else { return "" }
    var result = ""
    var used = 1  // the ellipsis
    for character in text {
        used += displayWidth(character)
        if used > width { break }
        result.append(character)
    }
    return result + "…"
}

private func displayWidth(_ character: Character) -> Int {
    let scalars = character.unicodeScalars
    // U+FE0F asks for the emoji form of a character that has a narrow one too.
    if scalars.contains("\u{FE0F}") { return 2 }
    return scalars.map(displayWidth).max() ?? 0
}

private func displayWidth(_ scalar: Unicode.Scalar) -> Int {
    switch scalar.properties.generalCategory {
    case .nonspacingMark, .enclosingMark, .format, .control: return 0
    default: return scalar.properties.isEmojiPresentation || isEastAsianWide(scalar.value) ? 2 : 1
    }
}

/// The blocks of wide and full-width characters that are not emoji, of EastAsianWidth.txt.
private func isEastAsianWide(_ value: UInt32) -> Bool {
    switch value {
    case 0x1100...0x115F, 0x2329...0x232A, 0x2E80...0x303E, 0x3041...0xA4CF, 0xA960...0xA97F, 0xAC00...0xD7A3: true
    case 0xF900...0xFAFF, 0xFE10...0xFE19, 0xFE30...0xFE6F, 0xFF01...0xFF60, 0xFFE0...0xFFE6: true
    case 0x16FE0...0x18DFF, 0x1AFF0...0x1B2FF, 0x20000...0x3FFFD: true
    default: false
    }
}
