import FoundationEssentials
import Testing

@testable import NotesKit

@Suite("The notes store")
struct NotesStoreTests {
    private let directory: TemporaryDirectory

    init() throws {
        directory = try TemporaryDirectory()
    }

    private func openStore(_ machine: String = "A") async throws -> NotesStore {
        try await directory.openStore(machine: machine)
    }

    @Test(
        "gives back each text byte for byte, also after it was closed",
        arguments: [
            "", "\n", "no end", "a\r\nb\rc\n\n", " \t ", "\u{FEFF}bom", "cafe\u{301}", "caf\u{E9}", "👩‍👩‍👧 日本語 \u{202E}",
            "'; DROP TABLE note; --",
        ]
    )
    func roundTrip(content: String) async throws {
        let store = try await openStore()
        let note = try await store.create(title: "x" + content.filter { !$0.isNewline && $0 != "\t" }, content: content)
        await store.close()
        let again = try #require(try await openStore().note(id: note.id))
        #expect(again == note)
        #expect(Array(again.content.utf8) == Array(content.utf8))
        #expect(Array(again.title.utf8) == Array(note.title.utf8))
    }

    @Test("keeps a text of 10 MB")
    func large() async throws {
        let store = try await openStore()
        let content = String(repeating: "0123456789", count: 1_000_000)
        let note = try await store.create(title: "large", content: content)
        #expect(try await store.note(id: note.id)?.content == content)
        #expect(try await store.list().map(\.contentBytes) == [10_000_000])
    }

    @Test("refuses a title of 10 MB, and stores nothing then")
    func largeTitle() async throws {
        let store = try await openStore()
        let title = String(repeating: "x", count: 10_000_000)
        #expect(await errorCode { try await store.create(title: title, content: "") } == .invalidTitle)
        let note = try await store.create(title: "a", content: "a")
        let code = await errorCode {
            try await store.save(id: note.id, opened: note.version, title: title, content: "b")
        }
        #expect(code == .invalidTitle)
        #expect(try await store.note(id: note.id) == note)
    }

    @Test("counts a save up, and keeps the text that it replaced")
    func save() async throws {
        let store = try await openStore()
        let note = try await store.create(title: "T", content: "one")
        let outcome = try await store.save(id: note.id, opened: note.version, title: "T", content: "two")
        #expect(outcome.note.version.counters == ["A": 2])
        #expect(outcome == .saved(outcome.note))
        let revisions = try await store.revisions(of: note.id)
        #expect(revisions.map(\.version) == [note.version])
        #expect(try await store.content(ofRevision: #require(revisions.first).number) == "one")
    }

    @Test("changes nothing for an editor that changed nothing, whatever happened meanwhile")
    func untouchedEditor() async throws {
        let store = try await openStore()
        let note = try await store.create(title: "T", content: "one")
        let untouched = { try await store.save(id: note.id, opened: note.version, title: "T", content: "one") }
        #expect(try await untouched() == .unchanged(note))
        let newer = try await store.save(id: note.id, opened: note.version, title: "T", content: "two").note
        #expect(try await untouched() == .unchanged(newer))
        let tombstone = try await store.remove(id: note.id)
        #expect(try await untouched() == .unchanged(tombstone))
        #expect(try await store.list().isEmpty)
    }

    @Test("saves over a newer version without losing it")
    func saveOverNewer() async throws {
        let store = try await openStore()
        let note = try await store.create(title: "T", content: "one")
        let theirs = try await store.save(id: note.id, opened: note.version, title: "T", content: "theirs").note
        let outcome = try await store.save(id: note.id, opened: note.version, title: "T", content: "mine")
        guard case .conflict(let mine, let copy) = outcome else {
            Issue.record("expected a conflict, got \(outcome)")
            return
        }
        #expect(mine.content == "mine")
        #expect(mine.version.compared(to: theirs.version) == .dominates)
        #expect(try await store.note(id: note.id) == mine)
        #expect(try await store.note(id: copy.id)?.content == "theirs")
    }

    @Test("brings a note back that was removed while it was edited")
    func saveOverRemoved() async throws {
        let store = try await openStore()
        let note = try await store.create(title: "T", content: "one")
        let tombstone = try await store.remove(id: note.id)
        let outcome = try await store.save(id: note.id, opened: note.version, title: "T", content: "two")
        #expect(outcome == .broughtBack(outcome.note))
        #expect(outcome.note.version.compared(to: tombstone.version) == .dominates)
        #expect(try await store.list().map(\.title) == ["T"])
    }

    @Test("says that a note to be saved or removed is not there")
    func missing() async throws {
        let store = try await openStore()
        let id = testID
        let saved = await errorCode {
            try await store.save(id: id, opened: VersionVector(), title: "T", content: "")
        }
        #expect(saved == .notFound)
        #expect(await errorCode { try await store.remove(id: id) } == .notFound)
        #expect(await errorCode { try await store.content(ofRevision: 1) } == .notFound)
    }

    @Test("keeps the text of a removed note, and ignores its older versions")
    func remove() async throws {
        let store = try await openStore()
        let note = try await store.create(title: "T", content: "one")
        try await store.remove(id: note.id)
        #expect(try await store.list().isEmpty)
        #expect(try await store.note(id: note.id)?.isDeleted == true)
        #expect(try await store.revisions(of: note.id).map(\.title) == ["T"])
        #expect(try await store.restore(note) == .ignored(.deletedHere))
    }

    @Test("keeps the last fifty replaced texts of a note")
    func revisionsAreBounded() async throws {
        let store = try await openStore()
        var note = try await store.create(title: "T", content: "0")
        for number in 1...NotesStore.revisionsKept + 2 {
            note = try await store.save(id: note.id, opened: note.version, title: "T", content: "\(number)").note
        }
        let revisions = try await store.revisions(of: note.id)
        #expect(revisions.count == NotesStore.revisionsKept)
        #expect(try await store.content(ofRevision: #require(revisions.last).number) == "2")
    }

    @Test("comes to the same notes as another machine that gets the same conflict")
    func conflictOnTwoMachines() async throws {
        let here = try await directory.openStore(machine: "A", at: directory.path + "/a/notes.db")
        let there = try await directory.openStore(machine: "B", at: directory.path + "/b/notes.db")
        let note = try await here.create(title: "T", content: "one")
        #expect(try await there.restore(note) == .added(note))
        let mine = try await here.save(id: note.id, opened: note.version, title: "T", content: "here").note
        let theirs = try await there.save(id: note.id, opened: note.version, title: "T", content: "there").note
        let outcome = try await here.restore(theirs)
        #expect(try await there.restore(mine) == outcome)
        for store in [here, there] {
            let ids = try await store.list().map(\.id)
            var contents: Set<String> = []
            for id in ids { contents.insert(try #require(try await store.note(id: id)).content) }
            #expect(contents == ["here", "there"])
        }
        // Once settled, it is settled.
        let settled = try #require(try await here.note(id: note.id))
        #expect(try await there.restore(settled) == .ignored(.same))
    }

    @Test("leaves an edited conflict copy alone when the same conflict is seen again")
    func editedCopy() async throws {
        let store = try await openStore()
        let note = try await store.create(title: "T", content: "one")
        let theirs = try makeNote("two", ["B": 1], id: note.id)
        guard case .conflict(_, let copy) = try await store.restore(theirs) else {
            Issue.record("expected a conflict")
            return
        }
        _ = try await store.save(id: copy.id, opened: copy.version, title: "Mine now", content: "edited")
        try await store.restore(theirs)
        try await store.restore(copy)
        #expect(try await store.note(id: copy.id)?.content == "edited")
        #expect(try await store.list().count == 2)
    }

    @Test("refuses a note that more machines carried than a version holds, and changes nothing")
    func tooManyMachines() async throws {
        let store = try await openStore()
        let note = try await store.create(title: "T", content: "one")
        let machines = (0..<VersionVector.maximumEntries).map { ("\($0)", UInt64(1)) }
        let incoming = try makeNote("two", Dictionary(uniqueKeysWithValues: machines), id: note.id)
        #expect(await errorCode { try await store.restore(incoming) } == .tooManyMachines)
        #expect(try await store.note(id: note.id) == note)
    }

    @Test("finds a note by id, by the beginning of its id, and by title")
    func matching() async throws {
        let store = try await openStore()
        let first = try #require(UUID(uuidString: "ABCD1234-0000-4000-8000-000000000001"))
        let second = try #require(UUID(uuidString: "ABCD5678-0000-4000-8000-000000000002"))
        _ = try await store.create(title: "Groceries", content: "", id: first)
        _ = try await store.create(title: "Work", content: "", id: second)
        for text in ["Groceries", "abcd1", "ABCD1234-0", first.uuidString, first.uuidString.lowercased()] {
            #expect(try await store.note(matching: text).id == first, "\(text)")
        }
        for text in ["abc", "groceries", "Grocer", "", "abcd9", "abcdx"] {
            #expect(await errorCode { try await store.note(matching: text) } == .notFound, "\(text)")
        }
    }

    @Test("lists what fits where a name fits two notes, a title and an id too")
    func ambiguous() async throws {
        let store = try await openStore()
        let first = try #require(UUID(uuidString: "ABCD1234-0000-4000-8000-000000000001"))
        _ = try await store.create(title: "Groceries", content: "", id: first)
        _ = try await store.create(title: "abcd", content: "")
        let error = await #expect(throws: NotesStoreError.self) { try await store.note(matching: "abcd") }
        #expect(error?.code == .ambiguous)
        #expect(error?.message.contains("abcd1234-0000-4000-8000-000000000001  Groceries") == true)
        _ = try await store.create(title: first.uuidString, content: "a title like an id")
        #expect(try await store.note(matching: first.uuidString).id == first)
    }

    @Test("remembers settings")
    func settings() async throws {
        let store = try await openStore()
        #expect(try await store.setting("port") == nil)
        try await store.setSetting("port", to: "1")
        try await store.setSetting("port", to: "2")
        #expect(try await openStore().setting("port") == "2")
        try await store.setSetting("port", to: nil)
        #expect(try await store.setting("port") == nil)
    }
}
