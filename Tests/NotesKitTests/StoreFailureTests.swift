import FoundationEssentials
import Glibc
import Testing

@testable import NotesKit

@Suite("The notes store's file")
struct StoreFailureTests {
    private let directory: TemporaryDirectory

    init() throws {
        directory = try TemporaryDirectory()
    }

    private func mode(of path: String) throws -> mode_t {
        var status = stat()
        try #require(stat(path, &status) == 0)
        return status.st_mode & 0o777
    }

    private func write(_ bytes: [UInt8], to path: String) throws {
        try Data(bytes).write(to: URL(fileURLWithPath: path))
    }

    @Test("and all beside it is closed to others")
    func modes() async throws {
        let store = try await directory.openStore()
        _ = try await store.create(title: "T", content: "")
        #expect(try mode(of: directory.path + "/data") == 0o700)
        for suffix in ["", "-wal", "-shm"] {
            #expect(try mode(of: directory.database + suffix) == 0o600)
        }
    }

    @Test("has what was acknowledged after the process was killed")
    func killed() async throws {
        let path = directory.database
        await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String] in
            let store = try await NotesStore.open(path: path, hash: testHash)
            let note = try await store.create(title: "T", content: "one")
            _ = try await store.save(id: note.id, opened: note.version, title: "T", content: "acknowledged")
            kill(getpid(), SIGKILL)
        }
        let store = try await directory.openStore()
        #expect(try await store.note(matching: "T").content == "acknowledged")
    }

    @Test("is made and written by several processes at once without loss")
    func racing() async throws {
        let path = directory.database
        await withTaskGroup { group in
            for machine in ["A", "B", "C"] {
                group.addTask {
                    await #expect(processExitsWith: .success) { [path = path as String, machine = machine as String] in
                        let store = try await NotesStore.open(path: path, hash: testHash)
                        for number in 0..<10 { _ = try await store.create(title: "\(machine)\(number)", content: "") }
                    }
                }
            }
        }
        #expect(try await directory.openStore().list().count == 30)
    }

    @Test("keeps both texts when two connections save the same note at once")
    func racingSaves() async throws {
        let first = try await directory.openStore(machine: "A")
        let second = try await directory.openStore(machine: "A")
        let note = try await first.create(title: "T", content: "one")
        async let one = first.save(id: note.id, opened: note.version, title: "T", content: "first")
        async let two = second.save(id: note.id, opened: note.version, title: "T", content: "second")
        _ = try await (one, two)
        var contents: Set<String> = []
        for id in try await first.list().map(\.id) {
            contents.insert(try #require(try await first.note(id: id)).content)
        }
        #expect(contents == ["first", "second"])
    }

    @Test("that another program holds is reported as locked")
    func locked() async throws {
        let store = try await directory.openStore(busyTimeout: .milliseconds(20))
        let other = try Database(path: directory.database, busyTimeout: .zero)
        try other.execute("BEGIN IMMEDIATE")
        #expect(await errorCode { try await store.create(title: "T", content: "") } == .locked)
        #expect(try await store.list().isEmpty)
        try other.execute("COMMIT")
        _ = try await store.create(title: "T", content: "")
    }

    @Test("that fills the disk loses nothing")
    func diskFull() async throws {
        let store = try await directory.openStore()
        let note = try await store.create(title: "T", content: "one")
        try await store.limitPages()
        let large = String(repeating: "x", count: 1_000_000)
        let code = await errorCode {
            try await store.save(id: note.id, opened: note.version, title: "T", content: large)
        }
        #expect(code == .diskFull)
        #expect(try await store.note(id: note.id) == note)
        #expect(try await store.revisions(of: note.id).isEmpty)
        _ = try await store.save(id: note.id, opened: note.version, title: "T", content: "two")
    }

    @Test("is refused where it is no database, and left as it is")
    func notADatabase() async throws {
        let path = directory.path + "/notes.db"
        let bytes = Array(String(repeating: "a shopping list\n", count: 100).utf8)
        try write(bytes, to: path)
        #expect(await errorCode { try await directory.openStore(at: path) } == .notADatabase)
        #expect(try Array(Data(contentsOf: URL(fileURLWithPath: path))) == bytes)
    }

    @Test(
        "is refused where it is another program's database, and left as it is",
        arguments: ["CREATE TABLE photo (id)", "PRAGMA user_version = 1", "PRAGMA application_id = 7"]
    )
    func foreignDatabase(script: String) async throws {
        let path = directory.path + "/other.db"
        try write([], to: path)
        try Database(path: path, busyTimeout: .zero).execute(script)
        let before = try Data(contentsOf: URL(fileURLWithPath: path))
        #expect(await errorCode { try await directory.openStore(at: path) } == .foreignDatabase)
        #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == before)
    }

    @Test("is refused where a newer version wrote it")
    func newerSchema() async throws {
        await (try directory.openStore()).close()
        try Database(path: directory.database, busyTimeout: .zero).execute("PRAGMA user_version = 1000")
        #expect(await errorCode { try await directory.openStore() } == .newerSchema)
    }

    @Test("is reported as damaged where it is")
    func corrupt() async throws {
        let store = try await directory.openStore()
        let content = String(repeating: "x", count: 999)
        for number in 0..<100 { _ = try await store.create(title: "\(number)", content: content) }
        await store.close()
        var bytes = try Array(Data(contentsOf: URL(fileURLWithPath: directory.database)))
        for index in 4_096..<bytes.count { bytes[index] = 0xA5 }
        try write(bytes, to: directory.database)
        let code = await errorCode { try await directory.openStore().list() }
        #expect(code == .corrupt)
    }

    @Test("is reported as read-only where it may not be written")
    func readOnly() async throws {
        await (try directory.openStore()).close()
        try #require(chmod(directory.path, 0o755) == 0)
        try #require(chmod(directory.path + "/data", 0o755) == 0)
        try #require(chmod(directory.database, 0o444) == 0)
        let path = directory.database
        // In a process of its own, which gives up root's right to write everything.
        await #expect(processExitsWith: .success) { [path = path as String] in
            if geteuid() == 0 { try #require(setuid(65_534) == 0) }
            let code = await errorCode { try await NotesStore.open(path: path, hash: testHash) }
            #expect(code == .readOnly)
        }
    }

    @Test("is reported where its directory cannot be made")
    func directoryUnusable() async throws {
        let path = directory.path + "/file"
        try write([], to: path)
        let code = await errorCode { try await directory.openStore(at: path + "/notes.db") }
        #expect(code == .directoryUnusable)
        let deeper = await errorCode { try await directory.openStore(at: path + "/deeper/notes.db") }
        #expect(deeper == .directoryUnusable)
        try FileManager.default.createDirectory(atPath: path + ".d/notes.db", withIntermediateDirectories: true)
        #expect(await errorCode { try await directory.openStore(at: path + ".d/notes.db") } == .cannotOpen)
    }

    @Test("may be closed twice, and says afterwards that it is closed")
    func closed() async throws {
        let store = try await directory.openStore()
        await store.close()
        await store.close()
        #expect(await errorCode { try await store.list() } == .closed)
    }
}

extension NotesStore {
    /// Leaves the database little room to grow.
    fileprivate func limitPages() throws {
        let pages = try database.integer("PRAGMA page_count")
        _ = try database.integer("PRAGMA max_page_count = \(pages + 2)")
    }
}
