import Foundation
import Testing

@Suite("The notes command", .timeLimit(.minutes(1)))
struct StoreVerbTests {
    private let notes: NotesCommand

    init() throws {
        notes = try NotesCommand()
    }

    private struct Shown: Decodable {
        let id: UUID
        let title: String
        let content: String
        let created: Date
        let modified: Date
        let version: [String: UInt64]
        let hash: String
    }

    private struct Listed: Decodable, Equatable {
        let id: UUID
        let title: String
        let bytes: Int
    }

    private func decode<Value: Decodable>(_ type: Value.Type, _ arguments: String...) throws -> Value {
        let result =
            try arguments.count == 1 ? notes(arguments[0], "--json") : notes(arguments[0], arguments[1], "--json")
        #expect(result.code == 0, "\(result.complaint)")
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .iso8601
        return try decoder.decode(type, from: result.bytes)
    }

    @Test(
        "gives a text back byte for byte",
        arguments: ["", "no end", "a\r\nb\rc\n", "cafe\u{301} \u{202E}\u{1B}[31m"]
    )
    func roundTrip(text: String) throws {
        let made = try notes("new", "T", "--content", "-", input: Data(text.utf8))
        #expect(made.code == 0)
        let id = made.output.trimmingCharacters(in: .newlines)
        #expect(try notes("show", id).bytes == Data(text.utf8))
        let shown = try decode(Shown.self, "show", "T")
        #expect(shown.id.uuidString.lowercased() == id)
        #expect(Data(shown.content.utf8) == Data(text.utf8))
        #expect(Array(shown.version.values) == [1])
        #expect(shown.hash.count == 64)
    }

    @Test("lists notes for people and for programs, until they are removed")
    func list() throws {
        let empty = try notes("list")
        #expect((empty.code, empty.output) == (0, ""))
        #expect(empty.complaint.contains("notes new"))
        #expect(try notes("new", "Groceries", "--content", "eggs").code == 0)
        #expect(try notes("list").output.contains("Groceries"))
        let listed = try decode([Listed].self, "list")
        #expect(listed.map(\.title) == ["Groceries"])
        #expect(listed.map(\.bytes) == [4])
        #expect(try notes("rm", "Groceries").code == 0)
        #expect(try notes("list", "--json").output == "[]\n")
        #expect(try notes("show", "Groceries").code == 1)
    }

    @Test("has the same name for this replica in each process")
    func replica() throws {
        _ = try notes("new", "A")
        _ = try notes("new", "B")
        #expect(try decode(Shown.self, "show", "A").version == decode(Shown.self, "show", "B").version)
    }

    @Test(
        "refuses a bad call or text with one clear line, and keeps nothing of it",
        arguments: [
            (["new", ""], "", 1, "the title is blank: give the note a title"),
            (["new", "a\nb"], "", 1, "give a title of one line"),
            (["new", "T", "-c", "-"], "a\0b", 1, "the text has a NUL character"),
            (["show", "nothing"], "", 1, "no note has the id or title “nothing”: `notes list` shows them all"),
            (["rm", "nothing"], "", 1, "no note has"),
            (["edit", "nothing"], "", 1, "no note has"),
            (["new"], "", 2, "TITLE is missing"),
            (["edit"], "", 2, "say which note"),
            (["edit", "T", "--new", "U"], "", 2, "say which note"),
            (["edit", "T", "--recover", "--discard"], "", 2, "--recover and --discard do not go together"),
        ] as [([String], String, Int32, String)]
    )
    func badInput(arguments: [String], input: String, code: Int32, complaint: String) throws {
        try refuses(arguments, input: input, code, complaint)
    }

    @Test("refuses a title of over 1,000 bytes and a text of over 16 MiB")
    func tooLong() throws {
        let title = String(repeating: "x", count: 100_000)
        try refuses(["new", title], input: "", 1, "the title has 100000 bytes and may have 1000")
        let text = String(repeating: "x", count: (16 << 20) + 1)
        try refuses(["new", "T", "-c", "-"], input: text, 1, "more than 16 MiB")
    }

    private func refuses(_ arguments: [String], input: String, _ code: Int32, _ complaint: String) throws {
        let words = arguments.map { "'\($0)'" }.joined(separator: " ")
        try Data(input.utf8).write(to: URL(fileURLWithPath: notes.home + "/input"))
        let result = try notes.shell("notes \(words) < '\(notes.home)/input'")
        #expect((result.code, result.output) == (code, ""))
        #expect(result.complaint.hasPrefix("notes: "))
        #expect(result.complaint.contains(complaint), "\(result.complaint)")
        #expect(result.complaint.split(separator: "\n").count == (code == 2 ? 2 : 1))
        #expect(try notes("list", "--json").output == "[]\n")
    }

    @Test("refuses text that is not UTF-8, and does not repair it")
    func brokenText() throws {
        let content = try notes("new", "T", "-c", "-", input: Data([0x61, 0xFF]))
        #expect(content.code == 1)
        #expect(content.complaint.contains("not UTF-8 at byte 1"))
        let title = try notes.shell("notes new \"$(printf 'a\\377')\"")
        #expect(title.code == 2)
        #expect(title.complaint.contains("argument 2 is not UTF-8"))
        #expect(try notes("list", "--json").output == "[]\n")
    }

    @Test("lists the notes that an ambiguous name fits")
    func ambiguous() throws {
        let ids = try (1...2).map { _ in try notes("new", "T").output.trimmingCharacters(in: .newlines) }
        let result = try notes("show", "T")
        #expect(result.code == 1)
        for id in ids { #expect(result.complaint.contains(id)) }
    }

    @Test("says what is wrong with its database or directory")
    func unusable() throws {
        try FileManager.default.createDirectory(atPath: notes.home + "/data", withIntermediateDirectories: true)
        let database = URL(fileURLWithPath: notes.home + "/data/notes.db")
        let garbage = Data(String(repeating: "no database ", count: 100).utf8)
        try garbage.write(to: database)
        let result = try notes("list")
        #expect(result.code == 1)
        #expect(result.complaint.contains("is not a notes database"))
        #expect(try Data(contentsOf: database) == garbage)
        let relative = try notes("list", environment: ["HANDOFF_HOME": "here"])
        #expect(relative.code == 1)
        #expect(relative.complaint.contains("has to be a path from the root"))
    }
}
