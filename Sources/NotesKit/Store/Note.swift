public import FoundationEssentials

/// A hash function of 32 bytes (SHA-256): the store is given one, since the library that has it belongs to another module.
public typealias NoteHash = @Sendable ([UInt8]) -> [UInt8]

/// A note in one version.
public struct Note: Sendable, Hashable, Identifiable {
    /// The note's identity on all machines.
    public let id: UUID
    /// The note's name, one line; empty in a tombstone.
    public let title: String
    /// The note's text; empty in a tombstone.
    public let content: String
    /// Which edits this version contains.
    public let version: VersionVector
    /// What title and text are compared by: the hash of both, each after its length in bytes as a big-endian UInt32.
    ///
    /// Never `==` on the strings, which takes different bytes for the same letter as equal.
    public let contentHash: [UInt8]
    /// When the note was first made; for display only, nothing is decided by a clock.
    public let created: Date
    /// When this text was saved; for display only.
    public let modified: Date
    /// Whether this is a tombstone: the note was removed and its text is among the revisions.
    public let isDeleted: Bool

    /// Makes a note from a text that enters: the user's, or a peer's.
    ///
    /// - Parameters:
    ///   - id: The note's identity.
    ///   - title: One line; see ``NoteText``.
    ///   - content: The text; see ``NoteText``.
    ///   - version: Which edits the text contains.
    ///   - created: When the note was first made.
    ///   - modified: When this text was saved.
    ///   - hash: The hash function.
    /// - Throws: ``NotesStoreError`` where ``NoteText`` refuses title or text.
    public init(
        id: UUID,
        title: String,
        content: String,
        version: VersionVector,
        created: Date,
        modified: Date,
        hash: NoteHash
    ) throws(NotesStoreError) {
        try NoteText.validate(title: title)
        try NoteText.validate(content: content)
        self.init(
            id: id,
            title: title,
            content: content,
            version: version,
            contentHash: Self.contentHash(title: title, content: content, hash: hash),
            created: created,
            modified: modified,
            isDeleted: false
        )
    }

    /// Makes a note from parts that were checked before.
    init(
        id: UUID,
        title: String,
        content: String,
        version: VersionVector,
        contentHash: [UInt8],
        created: Date,
        modified: Date,
        isDeleted: Bool
    ) {
        self.id = id
        self.title = title
        self.content = content
        self.version = version
        self.contentHash = contentHash
        self.created = created
        self.modified = modified
        self.isDeleted = isDeleted
    }

    /// The hash by which titles and texts are compared.
    public static func contentHash(title: String, content: String, hash: NoteHash) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(title.utf8.count + content.utf8.count + 8)
        for text in [title, content] {
            withUnsafeBytes(of: UInt32(clamping: text.utf8.count).bigEndian) { bytes.append(contentsOf: $0) }
            bytes.append(contentsOf: text.utf8)
        }
        return hash(bytes)
    }
}

extension Note {
    /// The same text in another version.
    func with(version: VersionVector) -> Note {
        Note(
            id: id,
            title: title,
            content: content,
            version: version,
            contentHash: contentHash,
            created: created,
            modified: modified,
            isDeleted: isDeleted
        )
    }

    /// What is left when the note is removed.
    func tombstone(version: VersionVector, at date: Date, hash: NoteHash) -> Note {
        Note(
            id: id,
            title: "",
            content: "",
            version: version,
            contentHash: Self.contentHash(title: "", content: "", hash: hash),
            created: created,
            modified: date,
            isDeleted: true
        )
    }

    /// The note that keeps this text after it lost a conflict.
    ///
    /// It is made from nothing but the note's id, the text and the version, so that all machines that settle the same
    /// conflict make the same copy.
    func conflictCopy(hash: NoteHash) -> Note {
        let suffix = " (conflict copy)"
        var title = title
        if !title.hasSuffix(suffix) {
            while title.utf8.count + suffix.utf8.count > NoteText.maximumTitleBytes { title.removeLast() }
            title += suffix
        }
        return Note(
            id: Self.copyID(of: id, contentHash: contentHash, hash: hash),
            title: title,
            content: content,
            version: version.inherited,
            contentHash: Self.contentHash(title: title, content: content, hash: hash),
            created: created,
            modified: modified,
            isDeleted: false
        )
    }

    /// A UUID of version 8 (RFC 9562 section 5.8: made from a hash of our own choice).
    private static func copyID(of id: UUID, contentHash: [UInt8], hash: NoteHash) -> UUID {
        var bytes = hash(withUnsafeBytes(of: id.uuid, Array.init) + contentHash)
        precondition(bytes.count >= 16, "the hash function gives too few bytes")
        bytes[6] = (bytes[6] & 0x0F) | 0x80
        bytes[8] = (bytes[8] & 0x3F) | 0x80
        return UUID(
            uuid: (
                bytes[0], bytes[1], bytes[2], bytes[3], bytes[4], bytes[5], bytes[6], bytes[7],
                bytes[8], bytes[9], bytes[10], bytes[11], bytes[12], bytes[13], bytes[14], bytes[15]
            )
        )
    }
}
