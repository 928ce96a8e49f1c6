import CommandLineKit

/// What `notes` can do; each verb is declared beside the code that does it.
enum NotesProgram {
    static let program = Program(
        name: "notes",
        summary: "Keep notes, and go on with them on your other machines",
        discussion: "Notes are plain text in UTF-8. NOTE stands for a note's exact title, its id, or a beginning of "
            + "the id that no other note has (four digits at least).",
        version: Version.current,
        verbs: [
            runVerb, newVerb, editVerb, listVerb, showVerb, removeVerb,
            attachVerb, attachmentsVerb, saveAttachmentVerb, detachVerb, fetchVerb,
            openVerb, closeVerb, activitiesVerb, continueVerb, sendVerb, statusVerb,
        ]
    )

    /// A positional value that names a note, which the shell can complete.
    static func note(_ summary: String = "The note's title or id") -> Positional {
        .required("NOTE", summary, completion: titles)
    }

    /// The titles of all notes, for completion.
    static let titles = Completion.lines(of: "notes list --titles 2>/dev/null")
}
