import FoundationEssentials
import Glibc
import Testing

@testable import NotesKit

@Suite("An editor's working file")
struct EditorDraftTests {
    private let directory: TemporaryDirectory

    init() throws {
        directory = try TemporaryDirectory()
    }

    @Test("has the note's text, is closed to others, and goes when it is done")
    func lifetime() async throws {
        let store = try await directory.openStore()
        let note = try await store.create(title: "T", content: "a\r\nb")
        let draft = try await store.makeDraft(of: note, processID: getpid())
        #expect(try draft.read() == "a\r\nb")
        #expect(draft.opened == note.version)
        #expect(!draft.isLeftover)
        var status = stat()
        #expect(stat(draft.path, &status) == 0 && status.st_mode & 0o777 == 0o600)
        #expect(try await store.drafts() == [draft])
        try await store.removeDraft(of: note.id)
        #expect(try await store.drafts().isEmpty)
        #expect(access(draft.path, F_OK) != 0)
    }

    @Test("is one for each note, while its editor is open")
    func oneEditor() async throws {
        let store = try await directory.openStore()
        let note = try await store.create(title: "T", content: "")
        _ = try await store.makeDraft(of: note, processID: getpid())
        #expect(await errorCode { try await store.makeDraft(of: note, processID: getpid()) } == .draftExists)
        #expect(await errorCode { try await store.recoverDraft(of: note.id, processID: getpid()) } == .draftExists)
    }

    @Test("is recovered after its editor was killed, with the version it began with")
    func recovery() async throws {
        let path = directory.database
        await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String] in
            let store = try await NotesStore.open(path: path, hash: testHash)
            let note = try await store.create(title: "T", content: "one")
            let draft = try await store.makeDraft(of: note, processID: getpid())
            try Data("typed".utf8).write(to: URL(fileURLWithPath: draft.path))
            kill(getpid(), SIGKILL)
        }
        let store = try await directory.openStore()
        let note = try await store.note(matching: "T")
        let leftover = try #require(try await store.draft(of: note.id))
        #expect(leftover.isLeftover)
        #expect(await errorCode { try await store.makeDraft(of: note, processID: getpid()) } == .draftExists)
        let draft = try await store.recoverDraft(of: note.id, processID: getpid())
        #expect(!draft.isLeftover)
        #expect(draft.opened == note.version)
        #expect(try draft.read() == "typed")
        try await store.removeDraft(of: note.id)
    }

    @Test("is not read through a link, and not repaired")
    func unreadable() async throws {
        let store = try await directory.openStore()
        let note = try await store.create(title: "T", content: "")
        let draft = try await store.makeDraft(of: note, processID: getpid())
        try Data([0x61, 0xFF]).write(to: URL(fileURLWithPath: draft.path))
        #expect(await errorCode { try draft.read() } == .invalidText)
        unlink(draft.path)
        #expect(symlink("/etc/passwd", draft.path) == 0)
        #expect(await errorCode { try draft.read() } == .draftUnusable)
    }

    @Test("that is there without the store's knowledge is not written over")
    func foreignFile() async throws {
        let store = try await directory.openStore()
        let note = try await store.create(title: "T", content: "")
        let draft = try await store.makeDraft(of: note, processID: getpid())
        try await store.removeDraft(of: note.id)
        try Data("someone's".utf8).write(to: URL(fileURLWithPath: draft.path))
        #expect(await errorCode { try await store.makeDraft(of: note, processID: getpid()) } == .draftUnusable)
        #expect(try draft.read() == "someone's")
        #expect(try await store.draft(of: note.id) == nil)
    }
}
