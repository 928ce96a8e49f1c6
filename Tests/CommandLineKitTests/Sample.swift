@testable import CommandLineKit

/// A program with one of everything that can be declared.
let sample = Program(
    name: "jot",
    summary: "Keep short notes",
    discussion: "A program that exists to be tested.\n\nIt keeps nothing.",
    version: "1.2.3",
    verbs: [
        Verb(
            "edit",
            "Edit a note in your editor",
            discussion: "The note stays as it is until the editor ends. A note that was changed meanwhile by "
                + "somebody else is kept beside yours.",
            positionals: [
                .required(
                    "NOTE",
                    "Id or title",
                    completion: .lines(of: "printf '%s\\n' Groceries 'Two words' \"It's\"")
                ),
                .optional("TITLE", "A new title"),
            ],
            options: [
                .flag("json", short: "j", "Print the note as JSON"),
                .flag("quiet", short: "q", "Print nothing"),
                .value("editor", short: "e", "PROGRAM", "Use this editor", completion: .file),
                .value("when", "TIME", "When it is saved", completion: .choices(["always", "never"])),
                .value("peer", "HOST[:PORT]", "Also ask this peer; may be given again", repeats: true),
            ],
            examples: [Example("jot edit Groceries", "Edit the note named Groceries")]
        ) { _ in .done },
        Verb("list", "List the notes", positionals: [.variadic("NOTE", "Only these")]) { _ in .done },
        Verb("account invite", "Invite a machine") { _ in throw CommandFailure("no", exitCode: .peerNotRunning) },
        Verb("account join", "Join an account", options: [.value("code", "FILE", "Read it there")]) { _ in .done },
    ]
)
