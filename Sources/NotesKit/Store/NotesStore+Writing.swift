public import FoundationEssentials

/// What a save did.
public enum SaveOutcome: Sendable, Hashable {
    /// The text is what it was: no new version.
    case unchanged(Note)
    /// The text is a new version.
    case saved(Note)
    /// The note was changed by someone else since it was opened. The saved text is the note now; theirs is the copy.
    case conflict(note: Note, copy: Note)
    /// The note was removed since it was opened, and is there again with the saved text.
    case broughtBack(Note)

    /// The note as it is now.
    public var note: Note {
        switch self {
        case .unchanged(let note), .saved(let note), .conflict(let note, _), .broughtBack(let note): note
        }
    }
}

extension NotesStore {
    /// Makes a note.
    ///
    /// - Parameters:
    ///   - title: One line; see ``NoteText``.
    ///   - content: The text; see ``NoteText``.
    /// - Returns: The note in its first version.
    /// - Throws: ``NotesStoreError``; nothing is stored then.
    public func create(title: String, content: String) throws -> Note {
        try create(title: title, content: content, id: UUID())
    }

    /// Makes a note with an id that no other note has.
    func create(title: String, content: String, id: UUID) throws -> Note {
        let date = now()
        let note = try Note(
            id: id,
            title: title,
            content: content,
            version: VersionVector().incremented(for: replicaID),
            created: date,
            modified: date,
            hash: hash
        )
        try database.transaction { try write(note, over: nil) }
        return note
    }

    /// Saves what an editor made of a note.
    ///
    /// An editor that changed nothing changes nothing here, whatever happened to the note meanwhile.
    ///
    /// - Parameters:
    ///   - id: The note.
    ///   - opened: The version that the editor began with.
    ///   - title: The title as it shall be.
    ///   - content: The text as it shall be.
    /// - Returns: What was done, and the note as it is now.
    /// - Throws: ``NotesStoreError``; nothing is stored then.
    public func save(id: UUID, opened: VersionVector, title: String, content: String) throws -> SaveOutcome {
        try database.transaction { try saveText(id: id, opened: opened, title: title, content: content) }
    }

    /// Does what ``save(id:opened:title:content:)`` does, as a part of a transaction.
    func saveText(id: UUID, opened: VersionVector, title: String, content: String) throws -> SaveOutcome {
        try NoteText.validate(title: title)
        try NoteText.validate(content: content)
        guard let current = try note(id: id) else { throw NotesStoreError.noSuchNote(id) }
        let begun = try replaced(id, version: opened)
        // An editor has no say in the attachments, so they are left out of what is compared.
        func isText(_ title: String, _ content: String, ofHash textHash: [UInt8], _ attachments: [Attachment]) -> Bool {
            textHash == Note.contentHash(title: title, content: content, attachments: attachments, hash: hash)
        }
        guard !isText(title, content, ofHash: current.contentHash, current.attachments),
            !(begun.map { isText(title, content, ofHash: $0.hash, $0.attachments) } ?? false)
        else { return .unchanged(current) }
        let attachments = current.isDeleted ? begun?.attachments ?? [] : current.attachments
        let saved = Note(
            id: id,
            title: title,
            content: content,
            attachments: attachments,
            version: current.version.merged(with: opened).incremented(for: replicaID),
            contentHash: Note.contentHash(title: title, content: content, attachments: attachments, hash: hash),
            created: current.created,
            modified: now(),
            isDeleted: false
        )
        try write(saved, over: current)
        if current.isDeleted { return .broughtBack(saved) }
        if current.version == opened { return .saved(saved) }
        // The note moved on in its attachments only: nobody's text is in question.
        if let begun, isText(current.title, current.content, ofHash: begun.hash, begun.attachments) {
            return .saved(saved)
        }
        let copy = current.conflictCopy(hash: hash)
        try apply(copy)
        return .conflict(note: saved, copy: copy)
    }

    /// Removes a note; a tombstone stays, and the text is among the revisions.
    ///
    /// - Returns: The tombstone.
    /// - Throws: ``NotesStoreError``, `notFound` where there is no such note or it is removed already.
    @discardableResult
    public func remove(id: UUID) throws -> Note {
        try database.transaction {
            guard let current = try note(id: id), !current.isDeleted else { throw NotesStoreError.noSuchNote(id) }
            let version = current.version.incremented(for: replicaID)
            let tombstone = current.tombstone(version: version, at: now(), hash: hash)
            try write(tombstone, over: current)
            return tombstone
        }
    }

    /// Takes a note that arrives from another machine.
    ///
    /// - Parameter incoming: The note; its text has passed ``NoteText`` when it was made.
    /// - Returns: What became of it; see ``merge(local:incoming:hash:)``.
    /// - Throws: ``NotesStoreError``; nothing is stored then.
    @discardableResult
    public func restore(_ incoming: Note) throws -> MergeOutcome {
        try database.transaction { try apply(incoming) }
    }

    @discardableResult
    private func apply(_ incoming: Note) throws -> MergeOutcome {
        let local = try note(id: incoming.id)
        let outcome = merge(local: local, incoming: incoming, hash: hash)
        if let note = outcome.note { try write(note, over: local) }
        // The copy may be here already, from an earlier merge, and may have been edited or removed since.
        if case .conflict(_, let copy) = outcome { try apply(copy) }
        return outcome
    }

    /// The text that a note has or had, in UTF-8.
    ///
    /// - Parameters:
    ///   - id: The note.
    ///   - hash: The content hash that it has or had with this text.
    /// - Returns: Nil where that is not known any more.
    /// - Throws: ``NotesStoreError``.
    public func text(of id: UUID, hash: [UInt8]) throws -> [UInt8]? {
        try database.rows(
            """
            SELECT content FROM note WHERE id = ?1 AND hash = ?2
            UNION ALL SELECT content FROM revision WHERE note = ?1 AND hash = ?2 LIMIT 1
            """,
            .text(id.uuidString),
            .blob(hash)
        ) { $0.blob(0) }.first
    }

    /// What a note was in a version that was replaced; nil where that is not known any more.
    private func replaced(
        _ id: UUID,
        version: VersionVector
    ) throws -> (hash: [UInt8], attachments: [Attachment])? {
        try database.rows(
            "SELECT hash, attachments FROM revision WHERE note = ? AND version = ? ORDER BY number DESC",
            .text(id.uuidString),
            .text(version.stored())
        ) { row in (hash: row.blob(0), attachments: try [Attachment](stored: row.text(1))) }.first
    }

    /// Writes a note in its new version, and keeps the text that it replaces.
    func write(_ note: Note, over old: Note?) throws {
        let database = try database
        try database.run(
            """
            INSERT INTO note (id, title, content, version, hash, created, modified, deleted, attachments)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)
            ON CONFLICT (id) DO UPDATE SET title = ?2, content = ?3, version = ?4, hash = ?5, created = ?6,
                modified = ?7, deleted = ?8, attachments = ?9
            """,
            .text(note.id.uuidString),
            .text(note.title),
            .blob(Array(note.content.utf8)),
            .text(note.version.stored()),
            .blob(note.contentHash),
            .real(note.created.timeIntervalSince1970),
            .real(note.modified.timeIntervalSince1970),
            .integer(note.isDeleted ? 1 : 0),
            .text(note.attachments.stored())
        )
        guard let old, !old.isDeleted, old.contentHash != note.contentHash else { return }
        try keep(old)
    }

    private func keep(_ old: Note) throws {
        let database = try database
        try database.run(
            """
            INSERT INTO revision (note, title, content, version, hash, replaced, attachments)
            VALUES (?, ?, ?, ?, ?, ?, ?)
            """,
            .text(old.id.uuidString),
            .text(old.title),
            .blob(Array(old.content.utf8)),
            .text(old.version.stored()),
            .blob(old.contentHash),
            .real(now().timeIntervalSince1970),
            .text(old.attachments.stored())
        )
        try database.run(
            """
            DELETE FROM revision WHERE note = ?1 AND number NOT IN
                (SELECT number FROM revision WHERE note = ?1 ORDER BY number DESC LIMIT ?2)
            """,
            .text(old.id.uuidString),
            .integer(Int64(Self.revisionsKept))
        )
    }
}

extension NotesStoreError {
    static func noSuchNote(_ id: UUID) -> NotesStoreError {
        NotesStoreError(.notFound, "there is no note \(id.uuidString.lowercased()): `notes list` shows them all")
    }
}
