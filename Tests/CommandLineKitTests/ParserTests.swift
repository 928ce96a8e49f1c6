import Testing

@testable import CommandLineKit

@Suite("A call")
struct ParserTests {
    private func parse(_ arguments: [String]) throws -> (verb: String, arguments: Arguments) {
        guard case .verb(let verb, let arguments) = try sample.request(arguments) else {
            throw CommandFailure("shown")
        }
        return (verb.name, arguments)
    }

    struct Case: CustomTestStringConvertible, Sendable {
        let call: [String]
        let expected: [String: [String]]

        var testDescription: String { call.joined(separator: " ") }

        init(_ call: [String], _ expected: [String: [String]]) {
            self.call = call
            self.expected = expected
        }
    }

    @Test(
        "gives each value its name",
        arguments: [
            Case(["edit", "a"], ["NOTE": ["a"]]),
            Case(["edit", "a", "b"], ["NOTE": ["a"], "TITLE": ["b"]]),
            Case(["edit", "a", "--json"], ["NOTE": ["a"], "json": [""]]),
            Case(["edit", "--json", "--json", "a"], ["NOTE": ["a"], "json": [""]]),
            Case(["edit", "--editor", "vi", "a"], ["NOTE": ["a"], "editor": ["vi"]]),
            Case(["edit", "--editor=vi", "a"], ["NOTE": ["a"], "editor": ["vi"]]),
            Case(["edit", "--editor=", "a"], ["NOTE": ["a"], "editor": [""]]),
            Case(["edit", "--editor=a=b", "a"], ["NOTE": ["a"], "editor": ["a=b"]]),
            Case(["edit", "--editor", "--json", "a"], ["NOTE": ["a"], "editor": ["--json"]]),
            Case(["edit", "-e", "vi", "a"], ["NOTE": ["a"], "editor": ["vi"]]),
            Case(["edit", "-evi", "a"], ["NOTE": ["a"], "editor": ["vi"]]),
            Case(["edit", "-jqevi", "a"], ["NOTE": ["a"], "json": [""], "quiet": [""], "editor": ["vi"]]),
            Case(["edit", "-"], ["NOTE": ["-"]]),
            Case(["edit", "-e", "-", "-"], ["NOTE": ["-"], "editor": ["-"]]),
            Case(["edit", "--", "--json"], ["NOTE": ["--json"]]),
            Case(["edit", "--", "--", "-h"], ["NOTE": ["--"], "TITLE": ["-h"]]),
            Case(["edit", ""], ["NOTE": [""]]),
            Case(["edit", "--peer", "a", "--peer=b", "n"], ["NOTE": ["n"], "peer": ["a", "b"]]),
            Case(["edit", "--when=never", "n"], ["NOTE": ["n"], "when": ["never"]]),
            Case(["list"], [:]),
            Case(["list", "a", "b", "c"], ["NOTE": ["a", "b", "c"]]),
            Case(["account", "join", "--code", "-"], ["code": ["-"]]),
        ]
    )
    func parses(example: Case) throws {
        let (verb, arguments) = try parse(example.call)
        #expect(example.call.starts(with: verb.split(separator: " ").map(String.init)))
        let names = sample.verbs.first { $0.name == verb }.map { $0.options.map(\.name) + $0.positionals.map(\.name) }
        for name in try #require(names) {
            #expect(arguments.values(name) == example.expected[name, default: []], "\(name)")
            #expect(arguments.has(name) == (example.expected[name] != nil), "\(name)")
        }
    }

    @Test(
        "that is not understood is a usage error that says what to do",
        arguments: [
            ([], "say what to do"),
            (["edti"], "unknown verb “edti”: did you mean edit?"),
            (["exit"], "unknown verb “exit”: did you mean edit?"),
            (["hlep"], "unknown verb “hlep”: did you mean help?"),
            (["something"], "unknown verb “something”"),
            (["a\nb"], "unknown verb “a\\nb”"),
            (["--json", "list"], "unknown option --json: options stand after the verb"),
            (["account"], "say what to do: account invite, account join"),
            (["account", "leave"], "say what to do: account invite, account join"),
            (["edit"], "NOTE is missing"),
            (["edit", "a", "--jsno"], "unknown option --jsno: did you mean --json?"),
            (["edit", "a", "--colour"], "unknown option --colour"),
            (["edit", "a", "-x"], "unknown option -x"),
            (["edit", "a", "--json=yes"], "--json takes no value"),
            (["edit", "a", "--editor"], "--editor needs a value: --editor PROGRAM"),
            (["edit", "a", "-e"], "--editor needs a value: --editor PROGRAM"),
            (["edit", "a", "--editor=x", "-ey"], "--editor is given twice"),
            (["edit", "a", "--when=nver"], "--when is one of always, never, and not “nver”: did you mean never?"),
            (["edit", "a", "b", "c"], "“c” is one argument too many: quote what belongs together"),
            (["completion", "tcsh"], "SHELL is one of bash, zsh, fish, and not “tcsh”"),
            (["help", "lisst"], "unknown verb “lisst”: did you mean list?"),
        ] as [([String], String)]
    )
    func usageErrors(call: [String], message: String) throws {
        let failure = #expect(throws: CommandFailure.self) { try sample.request(call) }
        #expect(failure?.message == message)
        #expect(failure?.exitCode == .usage)
    }

    @Test("ends with the verb's own exit code")
    func exitCodes() async {
        #expect(await sample.run(["list"]) == .done)
        #expect(await sample.run(["account", "invite"]) == .peerNotRunning)
        #expect(await sample.run(["lits"]) == .usage)
    }
}
