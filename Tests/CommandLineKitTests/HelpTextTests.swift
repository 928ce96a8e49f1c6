import Testing

@testable import CommandLineKit

@Suite("Help")
struct HelpTextTests {
    @Test(
        "of the verbs that begin with one word lists them",
        arguments: [["account", "--help"], ["account", "-h"], ["help", "account"]]
    )
    func group(call: [String]) throws {
        guard case .show(let text) = try sample.request(call) else { throw CancellationError() }
        #expect(
            text == """
                Usage: jot account VERB [OPTIONS] [ARGUMENTS]

                Verbs:
                  account invite  Invite a machine
                  account join    Join an account

                `jot help account VERB` tells more.

                """
        )
    }

    private func shown(_ arguments: String...) throws -> String {
        guard case .show(let text) = try sample.request(arguments) else { throw CommandFailure("not shown") }
        return text
    }

    @Test("of the program names its verbs")
    func program() throws {
        let expected = """
            Usage: jot VERB [OPTIONS] [ARGUMENTS]

            Keep short notes.

            A program that exists to be tested.

            It keeps nothing.

            Verbs:
              edit            Edit a note in your editor
              list            List the notes
              account invite  Invite a machine
              account join    Join an account
              completion      Print a completion script for your shell

            Options:
              -h, --help     Show this help, or after a verb, that verb's
                  --version  Show the version

            `jot help VERB` tells more.

            """
        #expect(try shown("help") == expected)
        #expect(try shown("--help") == expected)
        #expect(try shown("-h") == expected)
    }

    @Test("of a verb shows its arguments, options and examples")
    func verb() throws {
        let expected = """
            Usage: jot edit [OPTIONS] NOTE [TITLE]

            Edit a note in your editor.

            The note stays as it is until the editor ends. A note that was changed meanwhile
            by somebody else is kept beside yours.

            Arguments:
              NOTE   Id or title
              TITLE  A new title

            Options:
              -j, --json              Print the note as JSON
              -q, --quiet             Print nothing
              -e, --editor PROGRAM    Use this editor
                  --when TIME         When it is saved: always, never
                  --peer HOST[:PORT]  Also ask this peer; may be given again
              -h, --help              Show this help

            Examples:
              jot edit Groceries
                  Edit the note named Groceries

            """
        #expect(try shown("help", "edit") == expected)
        #expect(try shown("edit", "--help") == expected)
        #expect(try shown("edit", "a", "b", "c", "-h") == expected)
    }

    @Test("finds verbs of two words")
    func twoWords() throws {
        #expect(try shown("help", "account", "join").hasPrefix("Usage: jot account join [OPTIONS]\n"))
    }

    @Test("is not the version")
    func version() throws {
        #expect(try shown("--version") == "jot 1.2.3\n")
    }

    @Test("comes as a manual page too")
    func manual() throws {
        let page = try shown("--dump-man")
        #expect(page.hasPrefix(".TH JOT 1 \"\" \"jot 1.2.3\"\n.SH NAME\njot \\- Keep short notes\n"))
        #expect(page.contains(".SS jot edit [OPTIONS] NOTE [TITLE]\nEdit a note in your editor.\n"))
        #expect(page.contains(".TP\n.B \\-e, \\-\\-editor PROGRAM\nUse this editor\n"))
        #expect(page.contains(".nf\njot edit Groceries\n.fi\n"))
    }

    @Test("lets no text pass for a request of roff")
    func roff() {
        let program = Program(
            name: "x",
            summary: "y",
            version: "1",
            verbs: [Verb("v", "s", discussion: ".so /etc/passwd") { _ in .done }]
        )
        #expect(program.manualPage().contains("\n\\&.so /etc/passwd\n"))
    }
}
