import Foundation
import Testing

@testable import CommandLineKit

@Suite("A completion script")
struct CompletionScriptTests {
    /// Runs a shell on a script; nil where the shell is not installed.
    private func run(_ shell: String, _ arguments: [String], script: String) throws -> (status: Int32, output: String)?
    {
        let path = "/usr/bin/\(shell)"
        guard FileManager.default.isExecutableFile(atPath: path) else { return nil }
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("completion-\(UUID().uuidString)")
        try script.write(to: file, atomically: true, encoding: .utf8)
        defer { try? FileManager.default.removeItem(at: file) }
        let process = Process()
        process.executableURL = URL(fileURLWithPath: path)
        process.arguments = arguments + [file.path]
        let output = Pipe()
        process.standardOutput = output
        process.standardError = output
        try process.run()
        let data = output.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        return (process.terminationStatus, String(decoding: data, as: UTF8.self))
    }

    @Test("is one that the shell understands", arguments: ["bash", "zsh", "fish"])
    func syntax(shell: String) throws {
        let script = sample.completionScript(shell: shell)
        #expect(script.contains("completion for jot"))
        guard let result = try run(shell, ["-n"], script: script) else { return }
        #expect(result.status == 0, "\(result.output)")
        #expect(result.output.isEmpty)
    }

    @Test(
        "offers what fits the place, in bash",
        arguments: [
            ("jot ''", ["edit", "list", "completion", "help", "account"]),
            ("jot e", ["edit"]),
            ("jot account ''", ["invite", "join"]),
            ("jot account j", ["join"]),
            ("jot account join --", ["--code", "--help"]),
            ("jot edit --j", ["--json"]),
            ("jot edit ''", ["Groceries", "Two\\ words", "It\\'s"]),
            ("jot edit --json T", ["Two\\ words"]),
            ("jot edit --when ''", ["always", "never"]),
            ("jot edit --when n", ["never"]),
            ("jot edit --peer ''", []),
            ("jot completion z", ["zsh"]),
            ("jot nonsense ''", []),
        ]
    )
    func bash(words: String, offered: [String]) throws {
        let script =
            sample.completionScript(shell: "bash") + """
                COMP_WORDS=(\(words))
                COMP_CWORD=$(( ${#COMP_WORDS[@]} - 1 ))
                _jot
                (( ${#COMPREPLY[@]} )) && printf '%s\\n' "${COMPREPLY[@]}"
                exit 0
                """
        let result = try #require(try run("bash", ["--norc"], script: script))
        #expect(result.status == 0)
        #expect(result.output.split(separator: "\n").map(String.init) == offered)
    }

    @Test(
        "offers what fits the place, in fish",
        arguments: [
            ("jot e", ["edit"]), ("jot account ", ["invite", "join"]), ("jot edit --js", ["--json"]),
            ("jot edit T", ["Two words"]), ("jot edit --when n", ["never"]), ("jot completion z", ["zsh"]),
        ]
    )
    func fish(line: String, offered: [String]) throws {
        let script = sample.completionScript(shell: "fish") + "complete -C '\(line)'\n"
        guard let result = try run("fish", ["--no-config"], script: script) else { return }
        let words = result.output.split(separator: "\n").map { String($0.prefix { $0 != "\t" }) }
        #expect(words == offered)
    }
}
