/// The rule for activity types: reverse-DNS, such as `org.example.notes.note`.
public enum ActivityType {
    /// The longest type in bytes.
    public static let maximumSize = 255

    /// True for two labels or more of ASCII letters, digits, `-` and `_`, joined by dots.
    ///
    /// All of it has ``maximumSize`` bytes at most (docs/protocol.md, "Messages").
    public static func isValid(_ type: String) -> Bool {
        guard type.utf8.count <= maximumSize else { return false }
        let labels = type.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        return labels.count >= 2
            && labels.allSatisfy { label in
                !label.isEmpty
                    && label.allSatisfy {
                        switch $0 {
                        case 0x30...0x39, 0x41...0x5a, 0x61...0x7a, UInt8(ascii: "-"), UInt8(ascii: "_"): true
                        default: false
                        }
                    }
            }
    }
}
