import FoundationEssentials
import Glibc
import HandoffSupport
import Testing

@testable import NotesKit

@Suite("An editor's session", .timeLimit(.minutes(1)))
struct EditorSessionTests {
    private let directory: TemporaryDirectory

    init() throws {
        directory = try TemporaryDirectory()
    }

    /// Runs a script as the editor of a note with the text "begun"; `$1` is the file.
    private func edit(
        _ script: String,
        in store: NotesStore,
        whenSaved: @escaping @Sendable (Note) async throws -> Void = { _ in }
    ) async throws -> (result: EditorSession.Result, note: Note, saved: [String]) {
        let note = try await store.create(title: "T", content: "begun")
        let saved = LockedBox<[String]>([])
        let editor = Editor(command: "f() { \(script); }; f")
        let session = EditorSession(store: store, editor: editor) { note in
            saved.withLock { $0.append(note.content) }
            await #expect(throws: Never.self) { try await whenSaved(note) }
        }
        let result = try await session.run(on: store.makeDraft(of: note, processID: getpid()))
        let after = try #require(try await store.note(id: note.id))
        #expect(try await store.drafts().isEmpty)
        return (result, after, saved.withLock { $0 })
    }

    /// A pipe with a name, which lets an editor wait for the test.
    private func makeSignal() throws -> (path: String, send: @Sendable () -> Void) {
        let path = directory.path + "/signal"
        try #require(mkfifo(path, 0o600) == 0)
        return (path, { close(open(path, O_WRONLY)) })
    }

    @Test("that changes nothing leaves the note as it is")
    func untouched() async throws {
        let store = try await directory.openStore()
        let edit = try await edit("cp \"$1\" \"$1.new\" && mv \"$1.new\" \"$1\"", in: store)
        #expect(edit.result.end == .exit(status: 0))
        #expect(edit.saved.isEmpty)
        #expect(edit.note.version.counters.values.elementsEqual([1]))
    }

    @Test(
        "saves each write while the editor is open",
        arguments: [
            "printf one > \"$1\"; read go < SIGNAL; printf two > \"$1\"",
            "printf one > \"$1.new\"; mv \"$1.new\" \"$1\"; read go < SIGNAL; rm \"$1\"; printf two > \"$1\"",
        ]
    )
    func writes(script: String) async throws {
        let signal = try makeSignal()
        let store = try await directory.openStore()
        let edit = try await edit(script.replacing("SIGNAL", with: "'\(signal.path)'"), in: store) { note in
            if note.content == "one" { signal.send() }
        }
        #expect(edit.saved == ["one", "two"])
        #expect(edit.note.version.counters.values.elementsEqual([3]))
        #expect(edit.result.surprises.isEmpty)
    }

    @Test("keeps both texts where the note is changed elsewhere meanwhile, and says so once")
    func conflict() async throws {
        let signal = try makeSignal()
        let store = try await directory.openStore()
        let script = "printf one > \"$1\"; read go < '\(signal.path)'; printf two > \"$1\""
        let edit = try await edit(script, in: store) { note in
            guard note.content == "one" else { return }
            _ = try await store.save(id: note.id, opened: note.version, title: "T", content: "theirs")
            signal.send()
        }
        #expect(edit.note.content == "two")
        guard case .conflict(let note, let copy) = edit.result.surprises.first else {
            Issue.record("no conflict is told")
            return
        }
        #expect(edit.result.surprises.count == 1)
        #expect((note.content, copy.content) == ("two", "theirs"))
        #expect(try await store.note(id: copy.id)?.content == "theirs")
    }

    @Test("stays with the version it began with while the note moves on, until something is typed")
    func untouchedWhileNoteMovesOn() async throws {
        let store = try await directory.openStore()
        let note = try await store.create(title: "T", content: "begun")
        let draft = try await store.makeDraft(of: note, processID: getpid())
        _ = try await store.save(id: note.id, opened: note.version, title: "T", content: "theirs")
        let untouched = try await store.save(draft, content: "begun")
        #expect(untouched.draft == draft)
        guard case .conflict(_, let copy) = try await store.save(untouched.draft, content: "typed").outcome else {
            Issue.record("what was written elsewhere is gone")
            return
        }
        #expect(copy.content == "theirs")
    }

    @Test("brings a note back that was removed meanwhile, if something was written")
    func removed() async throws {
        let signal = try makeSignal()
        let store = try await directory.openStore()
        let script = "printf one > \"$1\"; read go < '\(signal.path)'; printf two > \"$1\""
        let edit = try await edit(script, in: store) { note in
            guard note.content == "one" else { return }
            try await store.remove(id: note.id)
            signal.send()
        }
        #expect(edit.result.surprises == [.broughtBack(edit.note)])
        #expect((edit.note.title, edit.note.content) == ("T", "two"))
    }

    @Test("forgives what was broken in between, and refuses what is at the end")
    func brokenText() async throws {
        let store = try await directory.openStore()
        let edit = try await edit("printf '\\377' > \"$1\"; printf mended > \"$1\"", in: store)
        #expect(edit.note.content == "mended")
        await #expect(throws: NotesStoreError(.invalidText, "")) {
            _ = try await self.edit("printf 'typed \\377' > \"$1\"", in: store)
        }
        let draft = try #require(try await store.drafts().first)
        #expect(try Data(contentsOf: URL(fileURLWithPath: draft.path)) == Data("typed ".utf8) + [0xFF])
        #expect(try await store.hasUnsavedText(draft))
    }

    @Test("tells how the editor ended, and keeps what it wrote")
    func ends() async throws {
        let store = try await directory.openStore()
        let failed = try await edit("printf one > \"$1\"; exit 3", in: store)
        #expect(failed.result.end == .exit(status: 3))
        #expect(failed.note.content == "one")
        let killed = try await edit("printf two > \"$1\"; kill -INT $$", in: store)
        #expect(killed.result.end == .signal(SIGINT))
        #expect(killed.note.content == "two")
    }

    @Test("uses what VISUAL or EDITOR says, or else the first editor there is")
    func choice() throws {
        #expect(Editor(environment: ["VISUAL": "v", "EDITOR": "e"])?.command == "v")
        #expect(Editor(environment: ["VISUAL": "", "EDITOR": "e -w"])?.command == "e -w")
        #expect(Editor(environment: ["PATH": directory.path]) == nil)
        for name in ["vi", "nano"] {
            try Data().write(to: URL(fileURLWithPath: "\(directory.path)/\(name)"))
            try #require(chmod("\(directory.path)/\(name)", 0o755) == 0)
        }
        #expect(Editor(environment: ["PATH": "/nowhere:\(directory.path)"])?.command == "nano")
    }
}
