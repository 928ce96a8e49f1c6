/// A string as it may be shown on a terminal: whatever would move the cursor, end the line, or turn the direction of
/// writing is shown as an escape.
///
/// The one function through which each string from a peer (and from a note) goes before it is printed. Escaped are
/// the control characters (C0, DEL, C1), line and paragraph separators, and the marks, embeddings, overrides and
/// isolates of bidirectional text (U+061C, U+200E-200F, U+202A-202E, U+2066-2069).
public func printable(_ text: String) -> String {
    guard text.unicodeScalars.contains(where: needsEscape) else { return text }
    var result = String.UnicodeScalarView()
    for scalar in text.unicodeScalars {
        if needsEscape(scalar) {
            result.append(contentsOf: escape(scalar).unicodeScalars)
        } else {
            result.append(scalar)
        }
    }
    return String(result)
}

private func needsEscape(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    case 0x00...0x1F, 0x7F...0x9F, 0x2028...0x2029: true
    case 0x061C, 0x200E...0x200F, 0x202A...0x202E, 0x2066...0x2069: true
    default: false
    }
}

private func escape(_ scalar: Unicode.Scalar) -> String {
    switch scalar {
    case "\n": "\\n"
    case "\r": "\\r"
    case "\t": "\\t"
    default: "\\u{\(String(scalar.value, radix: 16, uppercase: true))}"
    }
}
