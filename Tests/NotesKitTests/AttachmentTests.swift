import FoundationEssentials
import HandoffModel
import HandoffSupport
import Testing

@testable import NotesKit

@Suite("An attachment")
struct AttachmentTests {
    private let digest = makeDigest(1)

    @Test(
        "has a name of one line that is no path",
        arguments: [
            "", " ", ".", "..", "a/b", "/etc/passwd", "a\\b", "a\nb", "a\u{1B}[31m", "a\u{2028}b", "a\0", "\u{200B}",
            String(repeating: "x", count: 256),
        ]
    )
    func badName(name: String) async {
        let code = await errorCode { try Attachment(name: name, size: 1, digest: digest) }
        #expect(code == .invalidAttachment)
    }

    @Test(
        "may be called what people call files",
        arguments: ["a", "…", "Grüße aus Köln.pdf", ".profile", "-rf", "日本語 👩‍👩‍👧.txt"]
    )
    func goodName(name: String) throws {
        #expect(try Attachment(name: name, size: 0, digest: digest).name == name)
    }

    @Test("has a size that a file can have", arguments: [-1, Int64.min, 1 << 62 + 1, .max])
    func badSize(size: Int64) async {
        #expect(await errorCode { try Attachment(name: "a", size: size, digest: digest) } == .invalidAttachment)
    }

    @Test(
        "is saved under its name where that is harmless",
        arguments: [
            ("report.pdf", "report.pdf"), (".bashrc", "_bashrc"), ("-rf", "_rf"), ("~root", "_root"), ("~", "_"),
            ("\u{200B}.profile", "_profile"), ("photo\u{202E}gpj.exe", "photogpj.exe"), ("Grüße.txt", "Grüße.txt"),
        ]
    )
    func fileName(name: String, file: String) throws {
        #expect(try Attachment(name: name, size: 0, digest: digest).suggestedFileName == file)
    }

    @Test("is found by its name and by the beginning of its digest")
    func matching() async throws {
        let (one, other) = (makeDigest(0x11), makeDigest(0x12))
        let attachments = try [
            Attachment(name: "a", size: 1, digest: one), Attachment(name: "b", size: 1, digest: other),
            Attachment(name: "b", size: 2, digest: one),
        ]
        let note = try makeNote("text", ["A": 1], attachments: attachments)
        #expect(try note.attachment(matching: "a") == attachments[0])
        #expect(try note.attachment(matching: "1212") == attachments[1])
        #expect(await errorCode { try note.attachment(matching: "b") } == .ambiguous)
        #expect(await errorCode { try note.attachment(matching: "1111") } == .ambiguous)
        #expect(await errorCode { try note.attachment(matching: "121") } == .notFound)
        #expect(await errorCode { try note.attachment(matching: "") } == .notFound)
    }

    @Test("counts for what a note is compared by, in order, and none leaves that as it was")
    func contentHash() throws {
        let one = try Attachment(name: "a", size: 1, digest: makeDigest(1))
        let other = try Attachment(name: "b", size: 1, digest: makeDigest(1))
        let lists = [[], [one], [other], [one, other], [other, one]]
        let hashes = try lists.map { try makeNote("text", ["A": 1], attachments: $0).contentHash }
        #expect(Set(hashes).count == lists.count)
        // docs/protocol.md, "Notes".
        let plain: [UInt8] = [0, 0, 0, 1] + "T".utf8 + [0, 0, 0, 4] + "text".utf8
        #expect(hashes[0] == testHash(plain))
        let entry: [UInt8] = [0, 0, 0, 1] + "a".utf8 + [0, 0, 0, 0, 0, 0, 0, 1] + [UInt8](repeating: 1, count: 32)
        #expect(hashes[1] == testHash(plain + entry))
    }

    @Test("of a note may be one of a hundred")
    func tooMany() async throws {
        let many = try (0...Attachment.maximumCount).map { try Attachment(name: "\($0)", size: 1, digest: digest) }
        #expect(try makeNote("a", ["A": 1], attachments: Array(many.dropLast())).attachments.count == 100)
        #expect(await errorCode { try makeNote("a", ["A": 1], attachments: many) } == .invalidAttachment)
    }

    @Test("travels with its note")
    func userInfo() throws {
        let attachment = try Attachment(name: "a", size: 5 << 30, digest: digest)
        let note = try makeNote("text", ["A": 1], attachments: [attachment])
        #expect(try NoteActivity.note(NoteActivity.userInfo(note), hash: testHash) == note)
        let plain = try makeNote("text", ["A": 1])
        #expect(try NoteActivity.userInfo(plain)["attachments"] == nil)
        #expect(try NoteActivity.note(NoteActivity.userInfo(plain), hash: testHash) == plain)
    }

    @Test(
        "that a peer describes badly is refused with its note",
        arguments: [
            .string("a"), .array([.string("a")]), .array([.dictionary([:])]),
            .array([.dictionary(["name": .string("a"), "size": .integer(1), "sha256": .data(Data([1, 2]))])]),
            .array([.dictionary(["name": .string("../a"), "size": .integer(1), "sha256": .data(Data(count: 32))])]),
            .array([.dictionary(["name": .string("a"), "size": .integer(-1), "sha256": .data(Data(count: 32))])]),
        ] as [PropertyList]
    )
    func hostile(value: PropertyList) throws {
        var userInfo = try NoteActivity.userInfo(makeNote("text", ["A": 1]))
        userInfo["attachments"] = value
        #expect(throws: (any Error).self) { try NoteActivity.note(userInfo, hash: testHash) }
    }

    @Test("stays with the text that it belongs to when that loses a conflict")
    func conflict() throws {
        let attachment = try Attachment(name: "a", size: 1, digest: digest)
        let here = try makeNote("one", ["A": 1], attachments: [attachment])
        let outcome = try merge(local: here, incoming: makeNote("two", ["B": 1]), hash: testHash)
        guard case .conflict(let winner, let copy) = outcome else {
            Issue.record("expected a conflict, got \(outcome)")
            return
        }
        for note in [winner, copy] { #expect(note.attachments == (note.content == "one" ? [attachment] : [])) }
    }
}

func makeDigest(_ byte: UInt8) -> ContentDigest {
    guard let digest = ContentDigest(bytes: [UInt8](repeating: byte, count: 32)) else {
        preconditionFailure("a digest has 32 bytes")
    }
    return digest
}
