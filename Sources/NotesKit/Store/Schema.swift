/// The tables, and the steps by which an older database becomes a current one.
enum Schema {
    /// "Hand" in ASCII: marks the file as ours (`PRAGMA application_id`), for us and for file(1).
    static let applicationID: Int64 = 0x4861_6E64

    /// Each step lifts `PRAGMA user_version` by one; steps that were released are never changed, only followed.
    ///
    /// Texts are blobs of UTF-8, since SQLite tells a blob's length without reading it.
    static let migrations = [
        """
        CREATE TABLE note (
            id TEXT PRIMARY KEY,
            title TEXT NOT NULL,
            content BLOB NOT NULL,
            version TEXT NOT NULL,
            hash BLOB NOT NULL,
            created REAL NOT NULL,
            modified REAL NOT NULL,
            deleted INTEGER NOT NULL
        ) STRICT;
        CREATE TABLE revision (
            number INTEGER PRIMARY KEY AUTOINCREMENT,
            note TEXT NOT NULL REFERENCES note (id),
            title TEXT NOT NULL,
            content BLOB NOT NULL,
            version TEXT NOT NULL,
            hash BLOB NOT NULL,
            replaced REAL NOT NULL
        ) STRICT;
        CREATE INDEX revision_of_note ON revision (note, number);
        CREATE TABLE draft (
            note TEXT PRIMARY KEY REFERENCES note (id),
            opened TEXT NOT NULL,
            process INTEGER NOT NULL,
            process_start INTEGER NOT NULL
        ) STRICT;
        CREATE TABLE setting (key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT;
        """,
        """
        ALTER TABLE note ADD COLUMN attachments TEXT NOT NULL DEFAULT '[]';
        ALTER TABLE revision ADD COLUMN attachments TEXT NOT NULL DEFAULT '[]';
        CREATE TABLE blob_grant (
            machine TEXT NOT NULL,
            digest TEXT NOT NULL,
            until REAL NOT NULL,
            PRIMARY KEY (machine, digest)
        ) STRICT;
        """,
    ]

    /// Makes a database that was just opened ready for use.
    ///
    /// Nothing is written before it is known that the file is ours or empty.
    static func prepare(_ database: Database) throws {
        try checkOwnership(of: database)
        guard !database.isReadOnly else { throw NotesStoreError.readOnly(database.path, "opened for reading only") }
        try enterWriteAheadMode(database)
        // FULL: what was acknowledged is on the disk, also after a power cut.
        try database.execute("PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON;")
        guard try database.integer("PRAGMA user_version") < migrations.count else { return }
        try database.transaction {
            // Another process may have been faster.
            try checkOwnership(of: database)
            let version = try Int(database.integer("PRAGMA user_version"))
            for step in migrations[version...] { try database.execute(step) }
            try database.execute(
                "PRAGMA application_id = \(applicationID); PRAGMA user_version = \(migrations.count);"
            )
        }
    }

    private static func checkOwnership(of database: Database) throws {
        // In one statement: between two of them another process may make the database.
        let facts = try database.rows(
            """
            SELECT application_id, user_version, (SELECT count(*) FROM sqlite_schema)
            FROM pragma_application_id, pragma_user_version
            """
        ) { (application: $0.integer(0), version: $0.integer(1), tables: $0.integer(2)) }
        let (application, version, tables) = facts.first ?? (0, 0, 0)
        let isEmpty = application == 0 && version == 0 && tables == 0
        guard isEmpty || (application == applicationID && version > 0) else {
            throw NotesStoreError(
                .foreignDatabase,
                "\(database.path) is another program's database: choose another file, or move this one away"
            )
        }
        guard version <= migrations.count else {
            throw NotesStoreError(
                .newerSchema,
                "\(database.path) was written by a newer version of this program (its format is \(version), "
                    + "this version knows \(migrations.count)): install the newer version"
            )
        }
    }

    /// Switches to the write-ahead log, in which readers and a writer of several processes don't wait for each other.
    private static func enterWriteAheadMode(_ database: Database) throws {
        let mode = try database.rows("PRAGMA journal_mode = WAL") { $0.text(0) }.first
        guard mode == "wal" else {
            throw NotesStoreError(
                .cannotOpen,
                "the file system of \(database.path) has no shared memory for SQLite's write-ahead log: "
                    + "move the data directory to a local disk"
            )
        }
    }
}
