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
        let savedHash = Note.contentHash(title: title, content: content, hash: hash)
        guard let current = try note(id: id) else { throw NotesStoreError.noSuchNote(id) }
        guard try savedHash != current.contentHash && savedHash != replacedHash(of: id, version: opened) else {
            return .unchanged(current)
        }
        let saved = Note(
            id: id,
            title: title,
            content: content,
            version: current.version.merged(with: opened).incremented(for: replicaID),
            contentHash: savedHash,
            created: current.created,
            modified: now(),
            isDeleted: false
        )
        try write(saved, over: current)
        if current.isDeleted { return .broughtBack(saved) }
        if current.version == opened { return .saved(saved) }
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

    /// The hash of the text that a note had in a version that was replaced; nil where that is not known any more.
    private func replacedHash(of id: UUID, version: VersionVector) throws -> [UInt8]? {
        try database.rows(
            "SELECT hash FROM revision WHERE note = ? AND version = ? ORDER BY number DESC",
            .text(id.uuidString),
            .text(version.stored())
        ) { $0.blob(0) }.first
    }

    /// Writes a note in its new version, and keeps the text that it replaces.
    private func write(_ note: Note, over old: Note?) throws {
        let database = try database
        try database.run(
            """
            INSERT INTO note VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)
            ON CONFLICT (id) DO UPDATE SET
                title = ?2, content = ?3, version = ?4, hash = ?5, created = ?6, modified = ?7, deleted = ?8
            """,
            .text(note.id.uuidString),
            .text(note.title),
            .blob(Array(note.content.utf8)),
            .text(note.version.stored()),
            .blob(note.contentHash),
            .real(note.created.timeIntervalSince1970),
            .real(note.modified.timeIntervalSince1970),
            .integer(note.isDeleted ? 1 : 0)
        )
        guard let old, !old.isDeleted, old.contentHash != note.contentHash else { return }
        try keep(old)
    }

    private func keep(_ old: Note) throws {
        let database = try database
        try database.run(
            "INSERT INTO revision (note, title, content, version, hash, replaced) VALUES (?, ?, ?, ?, ?, ?)",
            .text(old.id.uuidString),
            .text(old.title),
            .blob(Array(old.content.utf8)),
            .text(old.version.stored()),
            .blob(old.contentHash),
            .real(now().timeIntervalSince1970)
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
