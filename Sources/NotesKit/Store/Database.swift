import CSQLite

/// The one owner of an SQLite handle: opens it, runs statements on it, and says in our words what went wrong.
///
/// Not sendable: it belongs to the actor that made it, and all its calls block.
final class Database {
    /// A value that goes into a statement's parameter.
    enum Value {
        case integer(Int64)
        case real(Double)
        case text(String)
        case blob([UInt8])
    }

    /// The row that a query stands on; only good inside the closure that got it.
    struct Row {
        fileprivate let statement: OpaquePointer

        func integer(_ column: CInt) -> Int64 { sqlite3_column_int64(statement, column) }

        func real(_ column: CInt) -> Double { sqlite3_column_double(statement, column) }

        func text(_ column: CInt) -> String { String(decoding: blob(column), as: UTF8.self) }

        func blob(_ column: CInt) -> [UInt8] {
            // The pointer first: asking for it may convert the value, which changes its length.
            guard let bytes = sqlite3_column_blob(statement, column) else { return [] }
            return Array(UnsafeRawBufferPointer(start: bytes, count: Int(sqlite3_column_bytes(statement, column))))
        }
    }

    /// Where the file is; for messages.
    let path: String
    private var handle: OpaquePointer?
    private var statements: [String: OpaquePointer] = [:]

    /// Opens the file, which has to exist (an empty file is an empty database).
    init(path: String, busyTimeout: Duration) throws {
        self.path = path
        let flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE
        let result = sqlite3_open_v2(path, &handle, flags, nil)
        guard result == SQLITE_OK else {
            let error = error(for: result)
            close()
            throw error
        }
        sqlite3_busy_timeout(handle, CInt(busyTimeout / .milliseconds(1)))
    }

    deinit {
        close()
    }

    /// Closes the file; may be called again.
    func close() {
        for statement in statements.values { sqlite3_finalize(statement) }
        statements = [:]
        sqlite3_close_v2(handle)
        handle = nil
    }

    /// Whether the file could be opened for reading only.
    var isReadOnly: Bool { sqlite3_db_readonly(handle, "main") == 1 }

    /// The rows that the last statement inserted, changed or deleted.
    var changedRows: Int { Int(sqlite3_changes(handle)) }

    /// Runs statements that give no rows and take no parameters.
    func execute(_ script: String) throws {
        try check(sqlite3_exec(handle, script, nil, nil, nil))
    }

    /// Runs one statement.
    func run(_ sql: String, _ parameters: Value...) throws {
        try withStatement(sql, parameters) { statement in
            while try step(statement) {}
        }
    }

    /// Runs a query and makes something of each row.
    func rows<Element>(_ sql: String, _ parameters: Value..., make: (Row) throws -> Element) throws -> [Element] {
        try withStatement(sql, parameters) { statement in
            var elements: [Element] = []
            while try step(statement) { elements.append(try make(Row(statement: statement))) }
            return elements
        }
    }

    /// Runs a query that gives one integer.
    func integer(_ sql: String) throws -> Int64 {
        try rows(sql) { $0.integer(0) }.first ?? 0
    }

    /// Runs `body` as one transaction, which is done wholly or not at all.
    ///
    /// The write lock is taken at the start, so that what is read in `body` is still so when it writes.
    func transaction<Result>(_ body: () throws -> Result) throws -> Result {
        try execute("BEGIN IMMEDIATE")
        do {
            let result = try body()
            try execute("COMMIT")
            return result
        } catch {
            // Some failures (a full disk) have rolled back already; there is nothing to do about one here.
            if sqlite3_get_autocommit(handle) == 0 { sqlite3_exec(handle, "ROLLBACK", nil, nil, nil) }
            throw error
        }
    }

    private func withStatement<Result>(
        _ sql: String,
        _ parameters: [Value],
        _ body: (OpaquePointer) throws -> Result
    ) throws -> Result {
        let statement = try prepared(sql)
        defer {
            sqlite3_reset(statement)
            sqlite3_clear_bindings(statement)
        }
        for (index, parameter) in parameters.enumerated() {
            try bind(parameter, to: CInt(index + 1), of: statement)
        }
        return try body(statement)
    }

    private func prepared(_ sql: String) throws -> OpaquePointer {
        if let statement = statements[sql] { return statement }
        var statement: OpaquePointer?
        try check(sqlite3_prepare_v3(handle, sql, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &statement, nil))
        guard let statement else { throw NotesStoreError(.internalFailure, "an empty statement was prepared") }
        statements[sql] = statement
        return statement
    }

    private func bind(_ value: Value, to index: CInt, of statement: OpaquePointer) throws {
        let copied = handoff_sqlite3_transient()
        switch value {
        case .integer(let value):
            try check(sqlite3_bind_int64(statement, index, value))
        case .real(let value):
            try check(sqlite3_bind_double(statement, index, value))
        case .text(let value):
            let length = UInt64(value.utf8.count)
            try check(sqlite3_bind_text64(statement, index, value, length, copied, UInt8(SQLITE_UTF8)))
        case .blob(let value):
            try check(sqlite3_bind_blob64(statement, index, value, UInt64(value.count), copied))
        }
    }

    private func step(_ statement: OpaquePointer) throws -> Bool {
        let result = sqlite3_step(statement)
        if result == SQLITE_ROW { return true }
        guard result == SQLITE_DONE else { throw error(for: result) }
        return false
    }

    private func check(_ result: CInt) throws {
        guard result == SQLITE_OK else { throw error(for: result) }
    }

    /// The one place where SQLite's result codes become ours; the raw code and its text stay in the message.
    private func error(for result: CInt) -> NotesStoreError {
        let text = handle.map { String(cString: sqlite3_errmsg($0)) } ?? String(cString: sqlite3_errstr(result))
        let reason = "\(text), SQLite code \(result)"
        switch result & 0xFF {
        case SQLITE_BUSY, SQLITE_LOCKED:
            return NotesStoreError(
                .locked,
                "\(path) is in use by another program (\(reason)): try again, or end the program that holds it"
            )
        case SQLITE_READONLY, SQLITE_PERM:
            return .readOnly(path, reason)
        case SQLITE_NOTADB:
            return NotesStoreError(
                .notADatabase,
                "\(path) is not a notes database (\(reason)): move the file away, and a new one is made"
            )
        case SQLITE_CORRUPT:
            return NotesStoreError(
                .corrupt,
                "\(path) is damaged (\(reason)): keep a copy and try `sqlite3 \(path) .recover`"
            )
        case SQLITE_FULL:
            return NotesStoreError(.diskFull, "no room to write \(path); nothing was changed: free some space")
        case SQLITE_CANTOPEN:
            return NotesStoreError(.cannotOpen, "cannot open \(path) (\(reason)): check the file and its directory")
        case SQLITE_IOERR:
            return NotesStoreError(
                .inputOutput,
                "reading or writing \(path) failed (\(reason)); nothing was changed: check the disk"
            )
        default:
            return NotesStoreError(.internalFailure, "the database refused a request (\(reason)): please report it")
        }
    }
}

extension NotesStoreError {
    /// The file or its directory does not allow writing.
    static func readOnly(_ path: String, _ reason: String) -> NotesStoreError {
        NotesStoreError(
            .readOnly,
            "cannot write \(path) (\(reason)): make the file and its directory writable, for example by chmod u+w"
        )
    }
}
