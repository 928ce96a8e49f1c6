import Foundation
import Handoff
import Testing

@testable import NotesKit

@Suite("A note as an activity")
struct NoteActivityTests {
    private func sample() throws -> Note { try makeNote("Käse 🧀\r\n\n日本酒", ["A": 2, "B": 1], title: "Größe\u{301}") }

    @Test("is of one type, and has its title and content byte for byte, an empty content too (001-1, 001-10)")
    func travels() throws {
        #expect(NoteActivity.type == "org.handoff.notes.note")
        for note in [try sample(), try makeNote("", ["A": 1])] {
            let userInfo = try NoteActivity.userInfo(note)
            #expect(userInfo["title"]?.stringValue.map { Array($0.utf8) } == Array(note.title.utf8))
            #expect(userInfo["content"]?.stringValue.map { Array($0.utf8) } == Array(note.content.utf8))
            #expect(try NoteActivity.note(userInfo, hash: testHash) == note)
        }
    }

    @Test(
        "is refused by the name of a key that is missing or of another type (001-6)",
        arguments: ["id", "title", "content", "version"]
    )
    func refuses(key: String) throws {
        for value in [nil, .integer(1), .array(["text"]), .data(Data([0xff]))] as [PropertyList?] {
            var userInfo = try NoteActivity.userInfo(try sample())
            userInfo[key] = value
            let error = #expect(throws: HandoffError.self) { try NoteActivity.note(userInfo, hash: testHash) }
            #expect(error?.code == .missingKey)
            #expect(error?.message.contains("\"\(key)\"") == true)
        }
    }

    @Test("is read without its dates, and whatever a newer version of the app adds to it (001-6)")
    func tolerates() throws {
        var userInfo = try NoteActivity.userInfo(try sample())
        userInfo["created"] = .string("yesterday")
        userInfo["modified"] = nil
        userInfo["colour"] = .string("blue")
        let note = try NoteActivity.note(userInfo, hash: testHash)
        #expect(note.contentHash == (try sample()).contentHash)
    }

    @Test("leaves a text over 64 KiB to a stream, and says how long it is and what the note's hash is")
    func large() throws {
        let note = try makeNote(String(repeating: "é", count: 40_000), ["A": 1])
        let userInfo = try NoteActivity.userInfo(note)
        #expect(userInfo["content"] == nil)
        let text = try #require(try NoteActivity.streamedText(userInfo))
        #expect(text.size == 80_000)
        #expect(text.hash == note.contentHash)
        #expect(try NoteActivity.streamedText(NoteActivity.userInfo(sample())) == nil)
        for size in [-1, NoteText.maximumContentBytes + 1] {
            let hostile = userInfo.merging(["contentSize": .integer(size)]) { $1 }
            #expect(throws: HandoffError(.userInfoTooLarge, "")) { try NoteActivity.streamedText(hostile) }
        }
        #expect(throws: HandoffError(.missingKey, "")) { try NoteActivity.streamedText(["contentSize": 1]) }
    }
}
