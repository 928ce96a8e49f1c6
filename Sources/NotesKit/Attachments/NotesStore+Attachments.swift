public import FoundationEssentials
import Glibc
public import Handoff
import HandoffSupport

extension NotesStore {
    /// Attaches a file to a note: keeps a copy of its content, and saves the note with it.
    ///
    /// The copy is made on a queue of its own, in constant memory. A copy that was broken off is gone on with.
    ///
    /// - Parameters:
    ///   - path: The file.
    ///   - id: The note.
    ///   - progress: Told how far hashing and copying are.
    /// - Returns: The note with the attachment: a new version, unless it had the same file under the same name.
    /// - Throws: ``NotesStoreError`` `notFound`, `invalidAttachment`, `attachmentExists`; `TransferError` where the file
    ///   cannot be read, changes meanwhile, or has no room; `CancellationError`.
    public nonisolated func attach(
        _ path: String,
        to id: UUID,
        progress: @escaping @Sendable (TransferProgress) -> Void = { _ in }
    ) async throws -> Note {
        let name = Attachment.name(ofFile: path)
        // Before the long work, so that what will be refused is refused at once.
        try await checkRoom(in: id)
        try Attachment.validate(name: name)
        let source = try await OutgoingFile.open(path)
        let digest = try await following(source.progress, progress) { try await source.digest() }
        let attachment = try Attachment(name: name, size: source.size, digest: digest)
        while true {
            try await keepBlob(of: attachment, from: source, progress)
            // Nil where somebody removed the copy, which nothing needed yet.
            if let note = try await save(attachment, in: id) { return note }
        }
    }

    /// Takes a file from a note.
    ///
    /// - Returns: The note without it, a new version.
    /// - Throws: ``NotesStoreError`` `notFound` where note or attachment is not there.
    public func detach(_ attachment: Attachment, from id: UUID) throws -> Note {
        try database.transaction {
            let current = try livingNote(id)
            guard let index = current.attachments.firstIndex(of: attachment) else {
                throw NotesStoreError(.notFound, "“\(current.title)” has no attachment “\(attachment.name)” any more")
            }
            var attachments = current.attachments
            attachments.remove(at: index)
            return try save(attachments, in: current)
        }
    }

    /// Writes an attachment's content to a file, checked and in one step; see `IncomingFile`.
    ///
    /// - Parameters:
    ///   - attachment: The attachment.
    ///   - path: The file, which only this user can read.
    ///   - replacing: Whether a file of that name is replaced.
    ///   - progress: Told how far it is.
    /// - Throws: ``NotesStoreError`` `attachmentMissing` where the content is not on this machine; `TransferError`;
    ///   `CancellationError`.
    public nonisolated func copy(
        _ attachment: Attachment,
        to path: String,
        replacing: Bool = false,
        progress: @escaping @Sendable (TransferProgress) -> Void = { _ in }
    ) async throws {
        guard blobState(of: attachment) == .here else {
            throw NotesStoreError(
                .attachmentMissing,
                "“\(attachment.name)” is not on this machine yet: carry on with the note while a machine is there that "
                    + "has it"
            )
        }
        let source = try await OutgoingFile.open(stored: blobPath(of: attachment.digest), digest: attachment.digest)
        let file = try await IncomingFile.open(
            path,
            size: attachment.size,
            digest: attachment.digest,
            replacesTarget: replacing
        )
        do {
            try await following(file.progress, progress) { try await source.copy(into: file) }
        } catch {
            // A part of a file that is on this disk anyway is not worth keeping.
            try? await file.discard()
            guard (error as? TransferError)?.code == .digestMismatch else { throw error }
            throw NotesStoreError(
                .corrupt,
                "the content of “\(attachment.name)” is damaged on this disk: remove \(source.path), and carry on with the "
                    + "note from a machine that has it"
            )
        }
    }

    private nonisolated func keepBlob(
        of attachment: Attachment,
        from source: OutgoingFile,
        _ progress: @escaping @Sendable (TransferProgress) -> Void
    ) async throws {
        guard blobState(of: attachment) != .here else { return }
        let file = try await receiveBlob(of: attachment)
        do {
            try await following(file.progress, progress) { try await source.copy(into: file) }
        } catch let error as TransferError where error.code == .digestMismatch {
            throw NotesStoreError(
                .invalidAttachment,
                "\(source.path) was changed while it was copied: try again when nothing writes it"
            )
        }
    }

    /// Saves a note with a further attachment; nil where its content is not here.
    private func save(_ attachment: Attachment, in id: UUID) throws -> Note? {
        // Under the database's lock for writing, which whoever removes contents holds too.
        try database.transaction {
            guard blobState(of: attachment) == .here else { return nil }
            let current = try livingNote(id)
            guard !current.attachments.contains(attachment) else { return current }
            guard !current.attachments.contains(where: { $0.name == attachment.name }) else {
                throw NotesStoreError(
                    .attachmentExists,
                    "“\(current.title)” has another attachment “\(attachment.name)”: detach it first, or rename the file"
                )
            }
            return try save(current.attachments + [attachment], in: current)
        }
    }

    private func save(_ attachments: [Attachment], in current: Note) throws -> Note {
        let saved = try Note(
            id: current.id,
            title: current.title,
            content: current.content,
            attachments: attachments,
            version: current.version.incremented(for: replicaID),
            created: current.created,
            modified: now(),
            hash: hash
        )
        try write(saved, over: current)
        return saved
    }

    private func checkRoom(in id: UUID) throws {
        guard try livingNote(id).attachments.count < Attachment.maximumCount else {
            throw NotesStoreError.tooManyAttachments
        }
    }

    private func livingNote(_ id: UUID) throws -> Note {
        guard let note = try note(id: id), !note.isDeleted else { throw NotesStoreError.noSuchNote(id) }
        return note
    }
}

/// Hands on what a sequence tells while something is done.
private func following<Element: Sendable, Result: Sendable>(
    _ sequence: AsyncStream<Element>,
    _ tell: @escaping @Sendable (Element) -> Void,
    _ body: @Sendable () async throws -> Result
) async throws -> Result {
    // Ends with the scope.
    async let _: Void = { for await element in sequence { tell(element) } }()
    return try await body()
}

extension NotesStoreError {
    /// A note has ``Attachment/maximumCount`` attachments and should have more.
    static let tooManyAttachments = NotesStoreError(
        .invalidAttachment,
        "a note may have \(Attachment.maximumCount) attachments: put the files into an archive, or into another note"
    )
}
