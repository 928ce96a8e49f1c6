import Testing

@testable import CommandLineKit

@Suite("Text that is drawn anew in its place")
struct LiveTextTests {
    private func terminal(columns: Int = 20, lines: Int? = 10, noColor: Bool = false) -> Terminal {
        Terminal(isTerminal: true, columns: columns, lines: lines, environment: noColor ? ["NO_COLOR": "1"] : [:])
    }

    @Test("The second frame begins where the first did, and takes away what is left of it")
    func inPlace() {
        var text = LiveText()
        let first = text.frame([StyledLine("one"), StyledLine("two")], on: terminal())
        #expect(first == "one\u{1B}[K\ntwo\u{1B}[K\n\u{1B}[J")
        #expect(text.frame([StyledLine("three")], on: terminal()) == "\u{1B}[2A\rthree\u{1B}[K\n\u{1B}[J")
        #expect(text.frame([StyledLine("four")], on: terminal()).hasPrefix("\u{1B}[1A\r"))
    }

    @Test("A line is never longer than the terminal, whatever letters it has, nor are there more than it shows")
    func fits() {
        var text = LiveText()
        let lines = (1...9).map { StyledLine("\($0) 漢字漢字漢字漢字漢字漢字", style: .good) }
        let frame = text.frame(lines, on: terminal(columns: 10, lines: 5))
        let drawn = frame.split(separator: "\n").dropLast()
        #expect(drawn.count == 4)
        #expect(drawn[0] == "\u{1B}[32m1 漢字漢…\u{1B}[0m\u{1B}[K")
        #expect(drawn.last?.contains("… and 6 m") == true)
    }

    @Test("NO_COLOR takes the colours away")
    func plain() {
        var text = LiveText()
        #expect(text.frame([StyledLine("x", style: .bad)], on: terminal()).contains("\u{1B}[31m"))
        #expect(!text.frame([StyledLine("x", style: .bad)], on: terminal(noColor: true)).contains("[31m"))
    }

    @Test("After a change of size it begins at the top of the screen")
    func resized() {
        var text = LiveText()
        _ = text.frame([StyledLine("x")], on: terminal())
        #expect(text.frame([StyledLine("x")], on: terminal(columns: 30)).hasPrefix("\u{1B}[H"))
    }

    @Test("The lines of a table have the style of their row, and the headings none")
    func table() {
        var table = Table(columns: [Table.Column("NAME"), Table.Column("HOST")])
        table.append(["漢字", "a\u{1B}[2J\u{202E}"], style: .pending)
        let lines = table.lines(width: nil)
        #expect(lines.map(\.style) == [nil, .pending])
        #expect(lines.map(\.text) == ["NAME  HOST", "漢字  a\\u{1B}[2J\\u{202E}"])
    }
}
