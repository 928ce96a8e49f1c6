extension Program {
    /// The manual page (section 1), in the man macros of roff.
    public func manualPage() -> String {
        var page = """
            .TH \(Self.roff(name.uppercased())) 1 "" "\(Self.roff("\(name) \(version)"))"
            .SH NAME
            \(Self.roff(name)) \\- \(Self.roff(summary))
            .SH SYNOPSIS
            .B \(Self.roff(name))
            .I VERB
            [\\fIOPTIONS\\fR] [\\fIARGUMENTS\\fR]

            """
        if !discussion.isEmpty { page += ".SH DESCRIPTION\n" + Self.paragraphs(discussion) }
        page += ".SH VERBS\n" + allVerbs.map(manualSection).joined()
        page += """
            .SH EXIT STATUS
            .TP
            .B 0
            Done.
            .TP
            .B 1
            Failed; the reason is on standard error.
            .TP
            .B 2
            The call was not understood.
            .TP
            .B 3
            The peer is not running.

            """
        return page
    }

    private func manualSection(_ verb: Verb) -> String {
        var section = ".SS \(Self.roff(usage(of: verb)))\n\(Self.roff(verb.summary)).\n"
        section += verb.discussion.isEmpty ? "" : ".PP\n" + Self.paragraphs(verb.discussion)
        for positional in verb.positionals {
            section += ".TP\n.I \(Self.roff(positional.name))\n"
            section += Self.line(positional.summary + positional.completion.choicesText)
        }
        for option in verb.options {
            let usage = option.usage.drop { $0 == " " }
            section += ".TP\n.B \(Self.roff(String(usage)))\n"
            section += Self.line(option.summary + option.completion.choicesText)
        }
        for example in verb.examples {
            section += ".PP\n\(Self.line(example.summary + ":")).RS 4\n.nf\n\(Self.line(example.call)).fi\n.RE\n"
        }
        return section
    }

    private static func paragraphs(_ text: String) -> String {
        text.split(separator: "\n\n").map { line(String($0.replacing("\n", with: " "))) }.joined(separator: ".PP\n")
    }

    /// A line of text, which must not pass for a request even where it begins with a dot.
    private static func line(_ text: String) -> String {
        let text = roff(text)
        return (text.hasPrefix(".") || text.hasPrefix("'") ? "\\&" : "") + text + "\n"
    }

    /// Escapes what roff would read as its own; a plain hyphen would become a typographic one.
    private static func roff(_ text: String) -> String {
        text.replacing("\\", with: "\\e").replacing("-", with: "\\-").replacing("\"", with: "\\(dq")
    }
}
