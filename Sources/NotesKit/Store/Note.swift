public import FoundationEssentials
import HandoffSupport

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
    /// The files that belong to it, in the order in which they were attached; none in a tombstone.
    public let attachments: [Attachment]
    /// Which edits this version contains.
    public let version: VersionVector
    /// What title, text and attachments are compared by: see ``contentHash(title:content:attachments:hash:)``.
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
    ///   - attachments: The files that belong to it, ``Attachment/maximumCount`` at most.
    ///   - version: Which edits the text contains.
    ///   - created: When the note was first made.
    ///   - modified: When this text was saved.
    ///   - hash: The hash function.
    /// - Throws: ``NotesStoreError`` where ``NoteText`` refuses title or text, or there are too many attachments.
    public init(
        id: UUID,
        title: String,
        content: String,
        attachments: [Attachment] = [],
        version: VersionVector,
        created: Date,
        modified: Date,
        hash: NoteHash
    ) throws(NotesStoreError) {
        try NoteText.validate(title: title)
        try NoteText.validate(content: content)
        guard attachments.count <= Attachment.maximumCount else { throw .tooManyAttachments }
        self.init(
            id: id,
            title: title,
            content: content,
            attachments: attachments,
            version: version,
            contentHash: Self.contentHash(title: title, content: content, attachments: attachments, hash: hash),
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
        attachments: [Attachment],
        version: VersionVector,
        contentHash: [UInt8],
        created: Date,
        modified: Date,
        isDeleted: Bool
    ) {
        self.id = id
        self.title = title
        self.content = content
        self.attachments = attachments
        self.version = version
        self.contentHash = contentHash
        self.created = created
        self.modified = modified
        self.isDeleted = isDeleted
    }

    /// The hash by which titles, texts and attachments are compared.
    ///
    /// Of title and text, each after its length in bytes as a big-endian UInt32; then, for each attachment, of its name
    /// in the same way, its size as a big-endian UInt64 and its digest.
    public static func contentHash(
        title: String,
        content: String,
        attachments: [Attachment] = [],
        hash: NoteHash
    ) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(title.utf8.count + content.utf8.count + 8)
        func append(_ text: String) {
            withUnsafeBytes(of: UInt32(clamping: text.utf8.count).bigEndian) { bytes.append(contentsOf: $0) }
            bytes.append(contentsOf: text.utf8)
        }
        append(title)
        append(content)
        for attachment in attachments {
            append(attachment.name)
            withUnsafeBytes(of: attachment.size.bigEndian) { bytes.append(contentsOf: $0) }
            bytes.append(contentsOf: attachment.digest.bytes)
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
            attachments: attachments,
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
            attachments: [],
            version: version,
            contentHash: Self.contentHash(title: "", content: "", hash: hash),
            created: created,
            modified: date,
            isDeleted: true
        )
    }

    /// The note that keeps this text after it lost a conflict.
    ///
    /// It is made from nothing but the note's id, the text, its attachments and the version, so that all machines that settle the same
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
            attachments: attachments,
            version: version.inherited,
            contentHash: Self.contentHash(title: title, content: content, attachments: attachments, hash: hash),
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
