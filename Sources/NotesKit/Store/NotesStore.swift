public import FoundationEssentials
import Handoff

/// The notes of one machine, in an SQLite database that several processes may open at once.
///
/// What a call acknowledged is on the disk. No text is ever given up: a text that is replaced becomes a revision, and
/// one that conflicts with another becomes a note beside it (see ``merge(local:incoming:hash:)``). The calls block on
/// the store's own queue, not on Swift's cooperative threads, for at most the busy timeout of five seconds each.
public actor NotesStore {
    /// How many replaced texts are kept for each note; the oldest go first.
    public static let revisionsKept = 50
    /// How long a call waits while another process writes.
    static let busyTimeout = Duration.seconds(5)

    /// Where the database file is.
    public nonisolated let path: String

    let hash: NoteHash
    let now: @Sendable () -> Date
    private let executor = QueueExecutor(label: "handoff.notes-store")
    private var openDatabase: Database?
    /// The id under which saves in this database are counted.
    private(set) var replicaID = ""

    /// The queue that all calls run on.
    public nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    private init(path: String, hash: @escaping NoteHash, now: @escaping @Sendable () -> Date) {
        self.path = path
        self.hash = hash
        self.now = now
    }

    /// Opens the store, and makes its directory (0700) and file (0600) where they are missing.
    ///
    /// Saves are counted under an id that the database was given when it was made, and not under the machine's, so that
    /// notes can be written before the machine has one. Version vectors ask no more of a name than that no other replica
    /// has it: a database must therefore not be copied to another machine, but its notes be handed off.
    ///
    /// - Parameters:
    ///   - path: The database file; its directory also holds the editors' working files.
    ///   - hash: SHA-256.
    ///   - now: The time, for display.
    /// - Returns: The open store.
    /// - Throws: ``NotesStoreError`` where directory or file cannot be used, the file is not ours, is damaged, or was
    ///   written by a newer version.
    public static func open(
        path: String,
        hash: @escaping NoteHash,
        now: @escaping @Sendable () -> Date = { Date() }
    ) async throws -> NotesStore {
        let newID = UUID().uuidString.lowercased()
        return try await open(path: path, hash: hash, now: now, busyTimeout: busyTimeout, newReplicaID: newID)
    }

    /// Opens the store with another busy timeout, and with another id if it is made.
    static func open(
        path: String,
        hash: @escaping NoteHash,
        now: @escaping @Sendable () -> Date,
        busyTimeout: Duration,
        newReplicaID: String
    ) async throws -> NotesStore {
        let store = NotesStore(path: path, hash: hash, now: now)
        try await store.openFile(busyTimeout: busyTimeout, newReplicaID: newReplicaID)
        return store
    }

    private func openFile(busyTimeout: Duration, newReplicaID: String) throws {
        try StoreFiles.makeDirectory(at: directory)
        try StoreFiles.makeDatabaseFile(at: path)
        let database = try Database(path: path, busyTimeout: busyTimeout)
        try Schema.prepare(database)
        openDatabase = database
        let key = "replica"
        if let id = try setting(key) {
            replicaID = id
        } else {
            // Another process may be faster: whichever id came first is the database's.
            try database.run("INSERT OR IGNORE INTO setting VALUES (?, ?)", .text(key), .text(newReplicaID))
            replicaID = try setting(key) ?? newReplicaID
        }
    }

    /// Closes the database; may be called again.
    ///
    /// Later calls throw `closed`.
    public func close() {
        openDatabase?.close()
        openDatabase = nil
    }

    /// The directory that the database is in.
    nonisolated var directory: String {
        guard let slash = path.lastIndex(of: "/") else { return "." }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }

    var database: Database {
        get throws {
            guard let openDatabase else {
                throw NotesStoreError(.closed, "the notes store is closed: start the command again")
            }
            return openDatabase
        }
    }

    // MARK: Reading

    /// All notes that are not removed, the latest modified first.
    public func list() throws -> [NoteSummary] {
        try database.rows(
            """
            SELECT id, title, length(content), created, modified, json_array_length(attachments) FROM note
            WHERE deleted = 0 ORDER BY modified DESC, id
            """
        ) { row in
            NoteSummary(
                id: try row.uuid(0),
                title: row.text(1),
                contentBytes: Int(row.integer(2)),
                attachmentCount: Int(row.integer(5)),
                created: Date(timeIntervalSince1970: row.real(3)),
                modified: Date(timeIntervalSince1970: row.real(4))
            )
        }
    }

    /// The note with an id, which may be a tombstone; nil where there is none.
    public func note(id: UUID) throws -> Note? {
        try database.rows(
            """
            SELECT id, title, content, version, hash, created, modified, deleted, attachments FROM note WHERE id = ?
            """,
            .text(id.uuidString),
            make: Note.init(row:)
        ).first
    }

    /// The one note that a user means.
    ///
    /// - Parameter text: An id, a beginning of one that no other note shares (four digits at least, in either case,
    ///   with or without hyphens), or an exact title.
    /// - Throws: ``NotesStoreError`` `notFound`; `ambiguous`, which lists what fits.
    public func note(matching text: String) throws -> Note {
        let summaries = try list()
        let candidates = summaries.filter { $0.title == text || $0.idBegins(with: text) }
        // A whole id leaves no doubt, even where another note has it for a title.
        let exact = candidates.filter { $0.id == UUID(uuidString: text) }
        let fitting = exact.isEmpty ? candidates : exact
        guard let first = fitting.first, let note = try note(id: first.id) else {
            throw NotesStoreError(.notFound, "no note has the id or title “\(text)”: `notes list` shows them all")
        }
        guard fitting.count == 1 else {
            let lines = fitting.prefix(20).map { "\n  \($0.id.uuidString.lowercased())  \($0.title)" }
            throw NotesStoreError(
                .ambiguous,
                "“\(text)” fits \(fitting.count) notes: give more of the id\(lines.joined())"
            )
        }
        return note
    }

    /// The texts of a note that were replaced or removed, the latest first.
    public func revisions(of id: UUID) throws -> [NoteRevision] {
        try database.rows(
            """
            SELECT number, title, length(content), version, replaced FROM revision
            WHERE note = ? ORDER BY number DESC
            """,
            .text(id.uuidString)
        ) { row in
            NoteRevision(
                number: row.integer(0),
                title: row.text(1),
                contentBytes: Int(row.integer(2)),
                version: try VersionVector(stored: row.text(3)),
                replaced: Date(timeIntervalSince1970: row.real(4))
            )
        }
    }

    /// The text of a revision.
    ///
    /// - Throws: ``NotesStoreError`` `notFound`.
    public func content(ofRevision number: Int64) throws -> String {
        let texts = try database.rows(
            "SELECT content FROM revision WHERE number = ?",
            .integer(number)
        ) { $0.text(0) }
        guard let text = texts.first else {
            throw NotesStoreError(.notFound, "there is no revision \(number): `notes list` shows the notes")
        }
        return text
    }

    // MARK: Settings

    /// A small value that belongs to this database; nil where it was never set.
    public func setting(_ key: String) throws -> String? {
        try database.rows("SELECT value FROM setting WHERE key = ?", .text(key)) { $0.text(0) }.first
    }

    /// Sets or, with nil, removes a small value that belongs to this database.
    public func setSetting(_ key: String, to value: String?) throws {
        let database = try database
        guard let value else { return try database.run("DELETE FROM setting WHERE key = ?", .text(key)) }
        try database.run("INSERT OR REPLACE INTO setting VALUES (?, ?)", .text(key), .text(value))
    }
}
