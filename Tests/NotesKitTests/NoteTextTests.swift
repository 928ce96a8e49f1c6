import Testing

@testable import NotesKit

@Suite("A note's text")
struct NoteTextTests {
    @Test(
        "may not have a title that is blank, long, or of more than one line",
        arguments: [
            "", " ", "\u{200B}", "a\nb", "a\r\nb", "a\u{0}b", "a\u{7F}b", "a\u{85}b", "a\u{2028}b", "\u{1B}[31mred",
            String(repeating: "x", count: NoteText.maximumTitleBytes + 1),
        ]
    )
    func badTitles(title: String) {
        #expect(throws: NotesStoreError(.invalidTitle, "")) { try NoteText.validate(title: title) }
    }

    @Test(
        "may have any other title",
        arguments: ["a", "  Groceries  ", "日本語", "👩‍👩‍👧", String(repeating: "x", count: NoteText.maximumTitleBytes)]
    )
    func goodTitles(title: String) {
        #expect(throws: Never.self) { try NoteText.validate(title: title) }
    }

    @Test("may be of 16 MiB and not a byte more")
    func contentLength() {
        let longest = String(repeating: "x", count: NoteText.maximumContentBytes)
        #expect(throws: Never.self) { try NoteText.validate(content: longest) }
        #expect(throws: NotesStoreError(.invalidContent, "")) { try NoteText.validate(content: longest + "x") }
    }

    @Test("has no NUL character")
    func noNUL() {
        #expect(throws: NotesStoreError(.invalidContent, "")) { try NoteText.validate(content: "a\0b") }
    }

    @Test(
        "is refused where it is not UTF-8, and the first bad byte is named",
        arguments: [
            ([0xFF], 0), ([0x61, 0x80], 1), ([0xC3, 0xA9, 0xC3], 2), ([0x61, 0xC0, 0x80], 1),
            ([0x61, 0x62, 0xED, 0xA0, 0x80], 2), ([0xF4, 0x90, 0x80, 0x80], 0),
        ] as [([UInt8], Int)]
    )
    func brokenUTF8(bytes: [UInt8], offset: Int) {
        let error = #expect(throws: NotesStoreError.self) { try NoteText.decodeUTF8(bytes) }
        #expect(error?.code == .invalidText)
        #expect(error?.message.contains("at byte \(offset):") == true)
    }

    @Test("is decoded without repair or change")
    func decodes() throws {
        let text = "\u{FEFF}a\r\ncafe\u{301} caf\u{E9}\n\n"
        #expect(try Array(NoteText.decodeUTF8(Array(text.utf8)).utf8) == Array(text.utf8))
    }
}
