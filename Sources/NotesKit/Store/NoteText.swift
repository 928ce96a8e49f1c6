/// The rules for what a note's title and text may be, checked wherever a text enters.
///
/// A text that passes is kept byte for byte: line ends, spaces and the forms of accented letters are the user's.
public enum NoteText {
    /// The longest title, in bytes of UTF-8.
    public static let maximumTitleBytes = 1_000
    /// The longest text, in bytes of UTF-8 (16 MiB).
    public static let maximumContentBytes = 16 << 20

    /// Checks a title.
    ///
    /// - Throws: ``NotesStoreError`` `invalidTitle` where it is blank, over ``maximumTitleBytes``, or has a line end or
    ///   another control character.
    public static func validate(title: String) throws(NotesStoreError) {
        let bytes = title.utf8.count
        guard bytes <= maximumTitleBytes else {
            throw NotesStoreError(
                .invalidTitle,
                "the title has \(bytes) bytes and may have \(maximumTitleBytes): shorten it, or move it into the text"
            )
        }
        guard !title.unicodeScalars.contains(where: breaksLine) else {
            throw NotesStoreError(
                .invalidTitle,
                "the title has a line end or another control character: give a title of one line"
            )
        }
        guard !title.unicodeScalars.allSatisfy(isBlank) else {
            throw NotesStoreError(.invalidTitle, "the title is blank: give the note a title")
        }
    }

    /// Checks a text.
    ///
    /// - Throws: ``NotesStoreError`` `invalidContent` where it is over ``maximumContentBytes`` or has a NUL character.
    public static func validate(content: String) throws(NotesStoreError) {
        guard content.utf8.count <= maximumContentBytes else { throw .contentTooLong }
        guard !content.utf8.contains(0) else {
            throw NotesStoreError(
                .invalidContent,
                "the text has a NUL character, so it is probably no text: notes hold text only"
            )
        }
    }

    /// Reads bytes as UTF-8, and refuses what is not instead of repairing it.
    ///
    /// - Throws: ``NotesStoreError`` `invalidText`, which names the offset of the first bad byte.
    public static func decodeUTF8(_ bytes: [UInt8]) throws(NotesStoreError) -> String {
        if let text = String(validating: bytes, as: UTF8.self) { return text }
        throw NotesStoreError(
            .invalidText,
            "the text is not UTF-8 at byte \(offsetOfBadByte(in: bytes)): convert it first, for example with iconv"
        )
    }

    /// The length of the longest beginning that is UTF-8.
    private static func offsetOfBadByte(in bytes: [UInt8]) -> Int {
        var parser = Unicode.UTF8.ForwardParser()
        var iterator = bytes.makeIterator()
        var offset = 0
        while case .valid(let scalar) = parser.parseScalar(from: &iterator) {
            offset += scalar.count
        }
        return offset
    }

    /// Whether nothing is seen of a character: spaces, and the zero-width ones.
    static func isBlank(_ scalar: Unicode.Scalar) -> Bool {
        scalar.properties.isWhitespace || scalar.properties.generalCategory == .format
    }

    static func breaksLine(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .lineSeparator, .paragraphSeparator: true
        default: false
        }
    }
}

extension NotesStoreError {
    /// A text is over ``NoteText/maximumContentBytes``.
    public static let contentTooLong = NotesStoreError(
        .invalidContent,
        "the text has more than 16 MiB, the most a note may have: split it"
    )
}
