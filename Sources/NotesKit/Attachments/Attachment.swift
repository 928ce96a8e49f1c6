public import Handoff

/// A file that belongs to a note: what it is called, how long it is, and what is in it.
///
/// The content is kept once for each digest, whatever notes it belongs to, and may not be on this machine yet.
public struct Attachment: Sendable, Hashable, Codable {
    /// The most files that a note may have.
    public static let maximumCount = 100
    /// The longest name, in bytes of UTF-8; file systems have no longer ones either.
    public static let maximumNameBytes = 255

    /// What it is called, for people: one line without path separators; never a path.
    public let name: String
    /// Its length in bytes.
    public let size: Int64
    /// The SHA-256 digest of its content.
    public let digest: ContentDigest

    private enum CodingKeys: String, CodingKey {
        case name, size
        case digest = "sha256"
    }

    /// Describes a file.
    ///
    /// - Parameters:
    ///   - name: What it is called, the user's word or a peer's.
    ///   - size: Its length in bytes.
    ///   - digest: The digest of its content.
    /// - Throws: ``NotesStoreError`` `invalidAttachment` where the name is blank, over ``maximumNameBytes``, `.` or `..`,
    ///   or has a slash, a backslash, a line end or another control character; where the size is negative or over
    ///   `IncomingFile.maximumSize`.
    public init(name: String, size: Int64, digest: ContentDigest) throws(NotesStoreError) {
        try Self.validate(name: name)
        guard (0...IncomingFile.maximumSize).contains(size) else {
            throw NotesStoreError(
                .invalidAttachment,
                "an attachment cannot have \(size) bytes: is the peer's app broken?"
            )
        }
        self.name = name
        self.size = size
        self.digest = digest
    }

    /// Checks a name; see ``init(name:size:digest:)``.
    static func validate(name: String) throws(NotesStoreError) {
        let problem: String? =
            switch true {
            case name.utf8.count > maximumNameBytes: "has \(name.utf8.count) bytes and may have \(maximumNameBytes)"
            case name.unicodeScalars.contains(where: NoteText.breaksLine): "has a line end or another control character"
            case name.contains(where: { $0 == "/" || $0 == "\\" }): "has a path separator"
            case name == "." || name == "..": "stands for a directory"
            case name.unicodeScalars.allSatisfy(NoteText.isBlank): "is blank"
            default: nil
            }
        guard let problem else { return }
        throw NotesStoreError(.invalidAttachment, "the attachment's name \(problem): rename the file")
    }
}

extension Attachment {
    /// What a file is called when it is attached: the last name of its path.
    public static func name(ofFile path: String) -> String {
        String(path.split(separator: "/").last ?? "/").replacing("\\", with: "_")
    }

    /// The name for a file that the content is saved to, where the user does not say one.
    ///
    /// It is never hidden, never looks like an option or a home directory, and has no characters that nobody sees.
    public var suggestedFileName: String {
        let seen = name.unicodeScalars.filter { $0.properties.generalCategory != .format }
        let isPlain = seen.first.map { !".-~".unicodeScalars.contains($0) } ?? false
        return isPlain ? String(seen) : "_" + String(seen.dropFirst())
    }
}

extension Note {
    /// The one attachment that a user means.
    ///
    /// - Parameter text: An exact name, or a beginning of the digest in hexadecimal, of four digits at least.
    /// - Throws: ``NotesStoreError`` `notFound`; `ambiguous`, which lists what fits.
    public func attachment(matching text: String) throws(NotesStoreError) -> Attachment {
        let fitting = attachments.filter { attachment in
            attachment.name == text || (text.count >= 4 && attachment.digest.description.hasPrefix(text.lowercased()))
        }
        guard let first = fitting.first else {
            throw NotesStoreError(
                .notFound,
                "“\(title)” has no attachment “\(text)”: `notes attachments` shows those that it has"
            )
        }
        guard Set(fitting).count == 1 else {
            let lines = fitting.map { "\n  \($0.digest)  \($0.name)" }
            throw NotesStoreError(
                .ambiguous,
                "“\(text)” fits \(fitting.count) attachments: give more of the digest\(lines.joined())"
            )
        }
        return first
    }
}
