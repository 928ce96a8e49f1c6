import FoundationEssentials
import Glibc
import Handoff
import HandoffSupport
import HandoffTestKit
import Testing

@testable import NotesKit

@Suite("The notes store's attachments")
struct AttachmentStoreTests {
    private let directory: TemporaryDirectory

    init() throws {
        directory = try TemporaryDirectory()
    }

    private func file(_ name: String, _ content: String) throws -> String {
        let path = "\(directory.path)/\(name)"
        try Data(content.utf8).write(to: URL(fileURLWithPath: path))
        return path
    }

    private func content(_ path: String) throws -> String {
        try String(decoding: Data(contentsOf: URL(fileURLWithPath: path)), as: UTF8.self)
    }

    /// The contents that are kept, and partial ones.
    private var blobs: [String] {
        let paths = try? FileManager.default.subpathsOfDirectory(atPath: directory.path + "/data/blobs")
        return (paths ?? []).filter { $0.contains("/") }
    }

    private func mode(of path: String) throws -> mode_t {
        var status = stat()
        try #require(lstat(path, &status) == 0)
        return status.st_mode & 0o777
    }

    @Test("are a part of the note's version, and give back their content")
    func attach() async throws {
        let store = try await directory.openStore()
        let note = try await store.create(title: "T", content: "one")
        let attached = try await store.attach(file("a.txt", "hello"), to: note.id)
        #expect(attached.version.counters == ["A": 2])
        #expect(attached.content == "one")
        #expect(attached.attachments.map(\.name) == ["a.txt"])
        #expect(attached.attachments.first?.digest == ContentDigest(bytes: Crypto.sha256(Array("hello".utf8))))
        #expect(try await store.note(id: note.id) == attached)
        #expect(try await store.list().map(\.attachmentCount) == [1])
        let attachment = try #require(attached.attachments.first)
        #expect(store.blobState(of: attachment) == .here)
        try await store.copy(attachment, to: directory.path + "/out")
        #expect(try content(directory.path + "/out") == "hello")
        let path = store.blobPath(of: attachment.digest)
        #expect(path.hasPrefix(directory.path + "/data/blobs/2c/2cf24dba"))
        #expect(try mode(of: path) == 0o600)
        #expect(try mode(of: Directory.containing(path)) == 0o700)
        #expect(try mode(of: directory.path + "/data/blobs") == 0o700)
    }

    @Test("are kept once for the same content, and not attached twice under one name")
    func same() async throws {
        let store = try await directory.openStore()
        let note = try await store.create(title: "T", content: "")
        let first = try await store.attach(file("a", "same"), to: note.id)
        #expect(try await store.attach(file("a", "same"), to: note.id) == first)
        let second = try await store.attach(file("b", "same"), to: note.id)
        #expect(second.attachments.map(\.name) == ["a", "b"])
        #expect(blobs.count == 1)
        let other = try file("a", "other")
        #expect(await errorCode { try await store.attach(other, to: note.id) } == .attachmentExists)
        #expect(try await store.note(id: note.id) == second)
    }

    @Test("are refused before any work where the note is gone or full")
    func refused() async throws {
        let store = try await directory.openStore()
        let path = try file("a", "a")
        #expect(await errorCode { try await store.attach(path, to: testID) } == .notFound)
        let note = try await store.create(title: "T", content: "")
        try await store.remove(id: note.id)
        #expect(await errorCode { try await store.attach(path, to: note.id) } == .notFound)
        let many = try (0..<100).map { try Attachment(name: "\($0)", size: 1, digest: makeDigest(1)) }
        try await store.restore(makeNote("full", ["B": 1], attachments: many))
        #expect(await errorCode { try await store.attach(path, to: testID) } == .invalidAttachment)
        #expect(blobs.isEmpty)
    }

    @Test("do not put an editor's text in conflict, which keeps them")
    func editing() async throws {
        let store = try await directory.openStore()
        let note = try await store.create(title: "T", content: "one")
        let attached = try await store.attach(file("a", "a"), to: note.id)
        let untouched = try await store.save(id: note.id, opened: note.version, title: "T", content: "one")
        #expect(untouched == .unchanged(attached))
        let outcome = try await store.save(id: note.id, opened: note.version, title: "T", content: "two")
        #expect(outcome == .saved(outcome.note))
        #expect(outcome.note.attachments == attached.attachments)
        #expect(outcome.note.version.compared(to: attached.version) == .dominates)
        #expect(try await store.list().count == 1)
        // A text that was changed too is in conflict as ever.
        let late = try await store.save(id: note.id, opened: attached.version, title: "T", content: "three")
        guard case .conflict(let mine, let copy) = late else {
            Issue.record("expected a conflict, got \(late)")
            return
        }
        #expect(mine.attachments == attached.attachments && copy.attachments == attached.attachments)
    }

    @Test("come back with a note that was removed while it was edited")
    func removedWhileEdited() async throws {
        let store = try await directory.openStore()
        let note = try await store.create(title: "T", content: "one")
        let attached = try await store.attach(file("a", "a"), to: note.id)
        try await store.remove(id: note.id)
        let outcome = try await store.save(id: note.id, opened: attached.version, title: "T", content: "two")
        #expect(outcome == .broughtBack(outcome.note))
        #expect(outcome.note.attachments == attached.attachments)
    }

    @Test("can be taken away, once")
    func detach() async throws {
        let store = try await directory.openStore()
        let note = try await store.create(title: "T", content: "")
        let attached = try await store.attach(file("a", "a"), to: note.id)
        let attachment = try #require(attached.attachments.first)
        let detached = try await store.detach(attachment, from: note.id)
        #expect(detached.attachments.isEmpty)
        #expect(detached.contentHash == note.contentHash)
        #expect(detached.version.counters == ["A": 3])
        #expect(await errorCode { try await store.detach(attachment, from: note.id) } == .notFound)
    }

    @Test("are known before their content is here, and received into their place")
    func arriving() async throws {
        let store = try await directory.openStore()
        let bytes = Array("from afar".utf8)
        let digest = try #require(ContentDigest(bytes: Crypto.sha256(bytes)))
        let attachment = try Attachment(name: "a", size: Int64(bytes.count), digest: digest)
        let note = try makeNote("text", ["B": 1], attachments: [attachment])
        #expect(try await store.restore(note) == .added(note))
        #expect(try await store.note(id: note.id) == note)
        #expect(store.blobState(of: attachment) == .missing)
        let out = directory.path + "/out"
        #expect(await errorCode { try await store.copy(attachment, to: out) } == .attachmentMissing)
        do { try await store.receiveBlob(of: attachment).append(Array(bytes.prefix(4))) }
        #expect(store.blobState(of: attachment) == .partial(4))
        // What a note still needs is not tidied away.
        #expect(try await store.removeUnneededBlobs() == 0)
        let file = try await store.receiveBlob(of: attachment)
        #expect(try await file.resumePoint().offset == 4)
        try await file.append(Array(bytes.dropFirst(4)))
        try await file.commit()
        #expect(store.blobState(of: attachment) == .here)
        try await store.copy(attachment, to: out)
        #expect(try content(out) == "from afar")
    }

    @Test("that are broken off while they are saved leave nothing behind")
    func cancelledCopy() async throws {
        let store = try await directory.openStore()
        let note = try await store.create(title: "T", content: "")
        let attachment = try #require(try await store.attach(file("a", "a"), to: note.id).attachments.first)
        let out = directory.path + "/out"
        try FileManager.default.createDirectory(atPath: out, withIntermediateDirectories: false)
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            try await store.copy(attachment, to: out + "/a")
        }
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(try FileManager.default.contentsOfDirectory(atPath: out).isEmpty)
    }

    @Test("that are damaged on the disk are not given out")
    func damaged() async throws {
        let store = try await directory.openStore()
        let note = try await store.create(title: "T", content: "")
        let attachment = try #require(try await store.attach(file("a", "good"), to: note.id).attachments.first)
        try Data("evil".utf8).write(to: URL(fileURLWithPath: store.blobPath(of: attachment.digest)))
        let out = directory.path + "/out"
        #expect(await errorCode { try await store.copy(attachment, to: out) } == .corrupt)
        #expect(!FileManager.default.fileExists(atPath: out))
    }

    @Test("are kept for as long as a note, a replaced text or a grant needs them")
    func removal() async throws {
        let store = try await directory.openStore()
        let note = try await store.create(title: "T", content: "")
        var current = try await store.attach(file("a", "a"), to: note.id)
        let attachment = try #require(current.attachments.first)
        #expect(try await store.removeUnneededBlobs() == 0)
        current = try await store.detach(attachment, from: note.id)
        try await store.grant([attachment.digest], to: "machine")
        for number in 0..<NotesStore.revisionsKept {
            #expect(try await store.removeUnneededBlobs() == 0)
            current = try await store.save(id: note.id, opened: current.version, title: "T", content: "\(number)").note
        }
        // The text that had it is forgotten; only the grant needs it.
        #expect(try await store.removeUnneededBlobs() == 0)
        #expect(store.blobState(of: attachment) == .here)
        let later = try await directory.openStore(now: 1_000 + 24 * 3_600)
        #expect(try await later.removeUnneededBlobs() == 1)
        #expect(store.blobState(of: attachment) == .missing)
    }

    @Test("that nobody needs leave no partial file after a day either, unless it is being written")
    func partials() async throws {
        let store = try await directory.openStore()
        let attachment = try Attachment(name: "a", size: 10, digest: makeDigest(7))
        let file = try await store.receiveBlob(of: attachment)
        try await file.append([1, 2, 3])
        let today = try FileManager.default.attributesOfItem(atPath: directory.path)[.modificationDate] as? Date
        let tomorrow = try #require(today).timeIntervalSince1970 + 25 * 3_600
        let later = try await directory.openStore(now: tomorrow)
        try await later.removeUnneededBlobs()
        #expect(blobs.count == 1)
        await file.close()
        try await store.removeUnneededBlobs()
        #expect(blobs.count == 1)
        // A process that another test starts just now has the lock, too, until it has become its program.
        let isGone = try await eventually {
            try await later.removeUnneededBlobs()
            return blobs.isEmpty
        }
        #expect(isGone)
    }

    @Test("are never lost to another process that tidies up")
    func racing() async throws {
        let (path, file) = (directory.database, try file("a", "wanted"))
        _ = try await directory.openStore()
        await withTaskGroup { group in
            group.addTask {
                await #expect(processExitsWith: .success) { [path = path as String] in
                    let store = try await NotesStore.open(path: path, hash: testHash)
                    for _ in 0..<300 { try await store.removeUnneededBlobs() }
                }
            }
            group.addTask {
                await #expect(processExitsWith: .success) { [path = path as String, file = file as String] in
                    let store = try await NotesStore.open(path: path, hash: testHash)
                    for number in 0..<20 {
                        try Data("wanted \(number)".utf8).write(to: URL(fileURLWithPath: file))
                        let note = try await store.create(title: "\(number)", content: "")
                        let attached = try await store.attach(file, to: note.id)
                        let attachment = try #require(attached.attachments.first)
                        try #require(store.blobState(of: attachment) == .here)
                    }
                }
            }
        }
    }

    @Test("may be asked for by the machine that was granted them, for a day")
    func grants() async throws {
        let store = try await directory.openStore()
        let (one, other) = (makeDigest(1), makeDigest(2))
        try await store.grant([one], to: "machine")
        #expect(try await store.isGranted(one, to: "machine"))
        #expect(try await !store.isGranted(other, to: "machine"))
        #expect(try await !store.isGranted(one, to: "another machine"))
        let evening = try await directory.openStore(now: 1_000 + 24 * 3_600 - 1)
        #expect(try await evening.isGranted(one, to: "machine"))
        let tomorrow = try await directory.openStore(now: 1_000 + 24 * 3_600)
        #expect(try await !tomorrow.isGranted(one, to: "machine"))
        try await tomorrow.grant([one], to: "machine")
        #expect(try await tomorrow.isGranted(one, to: "machine"))
    }

    @Test("are none in a database of the first version, which is lifted")
    func migration() async throws {
        try FileManager.default.createDirectory(atPath: directory.path + "/data", withIntermediateDirectories: true)
        try Data().write(to: URL(fileURLWithPath: directory.database))
        let old = try Database(path: directory.database, busyTimeout: .zero)
        try old.execute(Schema.migrations[0])
        let hash = Note.contentHash(title: "T", content: "old", hash: testHash)
        for sql in [
            "INSERT INTO note VALUES (?, 'T', ?, '{\"A\":1}', ?, 0, 0, 0)",
            "INSERT INTO revision VALUES (1, ?, 'T', ?, '{\"A\":1}', ?, 0)",
        ] {
            try old.run(sql, .text(testID.uuidString), .blob(Array("old".utf8)), .blob(hash))
        }
        try old.execute("PRAGMA application_id = \(Schema.applicationID); PRAGMA user_version = 1")
        old.close()
        let store = try await directory.openStore()
        let note = try #require(try await store.note(id: testID))
        #expect(try note == makeNote("old", ["A": 1]))
        #expect(try await store.attach(file("a", "a"), to: testID).attachments.count == 1)
    }
}
