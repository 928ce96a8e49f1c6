/// A program: its verbs, and the manners that all of them share.
///
/// Besides its verbs it knows `help [VERB]`, `--help`, `--version`, `completion SHELL` and, for the build, `--dump-man`.
public struct Program: Sendable {
    /// What the user types.
    public let name: String
    /// One line that says what it is for, without a full stop.
    public let summary: String
    /// More to know, in paragraphs of the help text and the manual.
    public let discussion: String
    /// The real version.
    public let version: String
    /// What it does; the order is that of the help text.
    public let verbs: [Verb]

    /// Declares a program.
    ///
    /// - Parameters:
    ///   - name: What the user types.
    ///   - summary: One line that says what it is for, without a full stop.
    ///   - discussion: More to know, in paragraphs.
    ///   - version: The real version.
    ///   - verbs: What it does, in the order of the help text.
    public init(name: String, summary: String, discussion: String = "", version: String, verbs: [Verb]) {
        self.name = name
        self.summary = summary
        self.discussion = discussion
        self.version = version
        self.verbs = verbs
    }

    /// Does what the arguments ask for, and shows what goes wrong on stderr.
    ///
    /// - Parameter arguments: The arguments, without the program's name.
    /// - Returns: The exit code.
    public func run(_ arguments: [String]) async -> ExitCode {
        do {
            switch try request(arguments) {
            case .show(let text):
                try StandardOutput.write(text)
                return .done
            case .verb(let verb, let arguments):
                return try await verb.run(arguments)
            }
        } catch let failure as CommandFailure where failure.exitCode == .usage {
            complain("\(failure.message)\nTry `\(name) help`.")
            return .usage
        } catch let failure as CommandFailure {
            complain(failure.message)
            return failure.exitCode
        } catch is OutputClosed {
            // Whoever reads has seen enough (`| head`).
            return .done
        } catch is CancellationError {
            return .failed
        } catch {
            complain("\(error)")
            return .failed
        }
    }

    /// Shows a message on stderr, after the program's name.
    ///
    /// Lines stay lines, which lists of candidates need; else it is shown as ``printable(_:)`` makes it.
    public func complain(_ message: String) {
        let lines = message.split(separator: "\n", omittingEmptySubsequences: false).map { printable(String($0)) }
        StandardError.write("\(name): \(lines.joined(separator: "\n"))\n")
    }

    /// What a call asks for.
    enum Request {
        case show(String)
        case verb(Verb, Arguments)
    }

    func request(_ arguments: [String]) throws(CommandFailure) -> Request {
        guard let first = arguments.first else { throw .usage("say what to do") }
        switch first {
        case "--help", "-h": return .show(helpText())
        case "--version": return .show("\(name) \(version)\n")
        case "--dump-man": return .show(manualPage())
        case "help" where arguments.count == 1: return .show(helpText())
        case "help":
            let words = Array(arguments.dropFirst())
            if words.count == 1, let text = helpText(forGroup: words[0]) { return .show(text) }
            return .show(helpText(for: try verb(of: words)))
        case "completion":
            guard let arguments = try Self.completion.parse(Array(arguments.dropFirst())) else {
                return .show(helpText(for: Self.completion))
            }
            return .show(completionScript(shell: arguments.required("SHELL")))
        default: break
        }
        guard !first.hasPrefix("-") else {
            throw .usage("unknown option \(printable(first)): options stand after the verb")
        }
        if arguments.count == 2, ["--help", "-h"].contains(arguments[1]), let text = helpText(forGroup: first) {
            return .show(text)
        }
        let verb = try verb(of: arguments)
        guard let parsed = try verb.parse(Array(arguments.dropFirst(verb.words.count))) else {
            return .show(helpText(for: verb))
        }
        return .verb(verb, parsed)
    }

    var allVerbs: [Verb] { verbs + [Self.completion] }

    /// The verbs of two words that begin with one.
    func verbs(ofGroup word: String) -> [Verb] { allVerbs.filter { $0.words.count > 1 && $0.words[0] == word } }

    private func verb(of arguments: [String]) throws(CommandFailure) -> Verb {
        if let verb = allVerbs.first(where: { arguments.starts(with: $0.words) }) { return verb }
        let word = arguments.first ?? ""
        let group = verbs(ofGroup: word)
        if !group.isEmpty {
            throw .usage("say what to do: \(group.map(\.name).joined(separator: ", "))")
        }
        let suggestion = nearest(to: word, in: allVerbs.map(\.name) + ["help"]).map { ": did you mean \($0)?" }
        throw .usage("unknown verb “\(printable(word))”\(suggestion ?? "")")
    }

    /// Declared like any other verb for its help and its completion; ``request(_:)`` does it.
    private static let completion = Verb(
        "completion",
        "Print a completion script for your shell",
        positionals: [.required("SHELL", "The shell", completion: .choices(["bash", "zsh", "fish"]))]
    ) { _ in .done }
}
