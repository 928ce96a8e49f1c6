import CommandLineKit

/// The program `notes`: its verbs, in the order of the help text, each declared beside the code that does it.
enum NotesProgram {
    static let program = Program(
        name: "notes",
        summary: "Notes that you start on one machine and carry on with on the next",
        discussion: "Notes are plain text in UTF-8. NOTE stands for a note's exact title, its id, or a beginning of "
            + "the id that no other note has (four digits at least).",
        version: Version.current,
        verbs: [
            .new, .edit, .list, .show, .remove,
            .run, .open, .close, .activities, .continueNote, .status,
        ]
    )
}

extension Completion {
    /// The titles of all notes.
    static let titles = lines(of: "notes list --titles 2>/dev/null")
}

extension Positional {
    /// The value that names a note.
    static let note = required("NOTE", "Id, unique prefix of an id, or title", completion: .titles)
}
