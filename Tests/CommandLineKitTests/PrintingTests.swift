import FoundationEssentials
import Testing

@testable import CommandLineKit

@Suite("Printing")
struct PrintingTests {
    @Test(
        "escapes whatever would play tricks with the terminal",
        arguments: [
            ("plain", "plain"),
            ("日本語 é 👩‍👩‍👧", "日本語 é 👩‍👩‍👧"),
            ("a\nb\r\tc", "a\\nb\\r\\tc"),
            ("a\r\nb", "a\\r\\nb"),
            ("\u{1B}[31mred", "\\u{1B}[31mred"),
            ("\0\u{7F}\u{9B}", "\\u{0}\\u{7F}\\u{9B}"),
            ("\u{202E}evil\u{202C}", "\\u{202E}evil\\u{202C}"),
            ("\u{2066}\u{2069}\u{200E}\u{200F}\u{061C}", "\\u{2066}\\u{2069}\\u{200E}\\u{200F}\\u{61C}"),
            ("a\u{2028}b\u{2029}c", "a\\u{2028}b\\u{2029}c"),
            ("e\u{301}\u{1B}", "e\u{301}\\u{1B}"),
        ]
    )
    func escapes(text: String, shown: String) {
        #expect(Array(printable(text).utf8) == Array(shown.utf8))
    }

    @Test("leaves nothing of what it escapes", arguments: [0x00...0x1F, 0x7F...0x9F, 0x202A...0x202E, 0x2066...0x2069])
    func escapesAll(range: ClosedRange<UInt32>) {
        for scalar in range.compactMap(Unicode.Scalar.init) {
            #expect(!printable("a\(scalar)b").unicodeScalars.contains(scalar))
        }
    }

    @Test(
        "knows how many columns a text takes",
        arguments: [
            ("", 0), ("abc", 3), ("é", 1), ("e\u{301}", 1), ("日本", 4), ("한글", 4), ("ｆｕｌｌ", 8), ("👩‍👩‍👧", 2), ("🇩🇪", 2),
            ("❤\u{FE0F}", 2), ("a\u{200B}b", 2), ("…", 1), ("🎉", 2), ("שלום", 4),
            ("مَرحَبا", 5),
        ]
    )
    func width(text: String, columns: Int) {
        #expect(displayWidth(text) == columns)
    }

    @Test("cuts a text where it is too wide, never through a letter")
    func truncates() {
        #expect(truncated("abcdef", toWidth: 6) == "abcdef")
        #expect(truncated("abcdef", toWidth: 4) == "abc…")
        #expect(truncated("日本語", toWidth: 4) == "日…")
        #expect(truncated("日本語", toWidth: 1) == "…")
        #expect(truncated("abc", toWidth: 0) == "")
    }

    private var table: Table {
        var table = Table(columns: [.init("TITLE", isFlexible: true), .init("SIZE", isNumeric: true), .init("AGE")])
        table.append(["日本語 groceries", "7", "now"])
        table.append(["a\nb", "1200", ""])
        return table
    }

    @Test("aligns a table by what is seen")
    func aligns() {
        let expected = """
            TITLE             SIZE  AGE
            日本語 groceries     7  now
            a\\nb              1200

            """
        #expect(table.text(width: nil) == expected)
    }

    @Test("cuts a table for a narrow terminal")
    func narrow() {
        let expected = """
            TITLE       SIZE  AGE
            日本語 gr…     7  now
            a\\nb        1200

            """
        #expect(table.text(width: 21) == expected)
        // There is a limit to what is cut.
        #expect(table.text(width: 1).hasPrefix("TITLE     SIZE  AGE\n日本語 …"))
    }

    @Test("gives JSON as one line, with sorted keys, ISO dates and the text as it is")
    func json() throws {
        struct Event: Encodable {
            let title: String
            let at: Date
        }
        let line = try StandardOutput.jsonLine(Event(title: "a\n\u{202E}/", at: Date(timeIntervalSince1970: 0)))
        let expected = #"{"at":"1970-01-01T00:00:00Z","title":"a\n"# + "\u{202E}/\"}\n"
        #expect(String(decoding: line, as: UTF8.self) == expected)
    }

    typealias TerminalCase = (isTerminal: Bool, environment: [String: String], width: Int?, isStyled: Bool)

    @Test(
        "uses colours and cuts only where they are welcome",
        arguments: [
            (true, [:], 100, true),
            (true, ["NO_COLOR": "1"], 100, false),
            (true, ["NO_COLOR": ""], 100, true),
            (true, ["TERM": "dumb"], 100, false),
            (true, ["COLUMNS": "40"], 40, true),
            (true, ["COLUMNS": "-1"], 100, true),
            (false, ["COLUMNS": "40"], nil, false),
        ] as [TerminalCase]
    )
    func terminal(example: TerminalCase) {
        let terminal = Terminal(isTerminal: example.isTerminal, columns: 100, environment: example.environment)
        #expect(terminal.width == example.width)
        #expect(terminal.isStyled == example.isStyled)
    }
}
