extension Program {
    /// The width of help texts, in columns.
    private static let helpWidth = 80

    /// The help text of the program.
    public func helpText() -> String {
        var text = "Usage: \(name) VERB [OPTIONS] [ARGUMENTS]\n\n\(summary).\n"
        text += Self.paragraphs(discussion)
        text += Self.section("Verbs", allVerbs.map { ($0.name, $0.summary) })
        text += Self.section(
            "Options",
            [("-h, --help", "Show this help, or after a verb, that verb's"), ("    --version", "Show the version")]
        )
        return text + "\n`\(name) help VERB` tells more.\n"
    }

    /// The help text of the verbs of two words that begin with one; nil where there are none.
    func helpText(forGroup word: String) -> String? {
        let group = verbs(ofGroup: word)
        guard !group.isEmpty else { return nil }
        return "Usage: \(name) \(word) VERB [OPTIONS] [ARGUMENTS]\n"
            + Self.section("Verbs", group.map { ($0.name, $0.summary) })
            + "\n`\(name) help \(word) VERB` tells more.\n"
    }

    /// The help text of a verb.
    public func helpText(for verb: Verb) -> String {
        var text = "Usage: \(usage(of: verb))\n\n\(verb.summary).\n"
        text += Self.paragraphs(verb.discussion)
        text += Self.section("Arguments", verb.positionals.map { ($0.name, $0.summary + $0.completion.choicesText) })
        text += Self.section("Options", verb.allOptions.map { ($0.usage, $0.summary + $0.completion.choicesText) })
        if !verb.examples.isEmpty {
            text += "\nExamples:\n" + verb.examples.map { "  \($0.call)\n      \($0.summary)\n" }.joined()
        }
        return text
    }

    /// How a verb is called.
    func usage(of verb: Verb) -> String {
        let parts = [name, verb.name] + (verb.options.isEmpty ? [] : ["[OPTIONS]"]) + verb.positionals.map(\.usage)
        return parts.joined(separator: " ")
    }

    private static func paragraphs(_ text: String) -> String {
        text.split(separator: "\n\n")
            .map { "\n" + wrap(String($0.replacing("\n", with: " ")), width: helpWidth).joined(separator: "\n") + "\n" }
            .joined()
    }

    private static func section(_ title: String, _ rows: [(String, String)]) -> String {
        guard !rows.isEmpty else { return "" }
        let width = rows.map(\.0.count).max() ?? 0
        let indent = String(repeating: " ", count: width + 4)
        let lines = rows.map { name, summary in
            let gap = String(repeating: " ", count: width + 2 - name.count)
            let summary = wrap(summary, width: helpWidth - indent.count).joined(separator: "\n" + indent)
            return "  \(name)\(gap)\(summary)\n"
        }
        return "\n\(title):\n" + lines.joined()
    }

    private static func wrap(_ text: String, width: Int) -> [String] {
        var lines: [String] = []
        for word in text.split(separator: " ") {
            if let last = lines.last, last.count + 1 + word.count <= width {
                lines[lines.count - 1] = "\(last) \(word)"
            } else {
                lines.append(String(word))
            }
        }
        return lines
    }
}

extension Option {
    /// The option as lists show it; the long names stand below each other.
    var usage: String {
        let value = placeholder.isEmpty ? "" : " \(placeholder)"
        return (short.map { "-\($0), " } ?? "    ") + "--\(name)\(value)"
    }
}

extension Completion {
    var choicesText: String {
        guard case .choices(let choices) = self else { return "" }
        return ": " + choices.joined(separator: ", ")
    }
}
