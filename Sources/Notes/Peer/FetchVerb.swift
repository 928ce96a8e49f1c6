import CommandLineKit
import NotesKit

extension NotesProgram {
    /// `notes fetch`: what a broken transfer left out.
    static let fetchVerb = Verb(
        "fetch",
        "Fetch what is missing of a note's attachments",
        discussion: """
            Asks the machines that are there, the nearest first. A machine gives what it gave this one the note of, for a \
            day; what has come before is not sent again.
            """,
        positionals: [note()],
        options: [
            .flag(
                "json",
                "Print JSON: one object, on the last line, after progress events as `notes continue` has them"
            ),
            peerOption,
            .flag("verbose", short: "v", "Log what happens"),
        ],
        examples: [Example("notes fetch Holidays", "Go on with the pictures, now that the other machine is back")]
    ) { arguments in
        let note = try await openStore().note(matching: arguments.required("NOTE"))
        guard case .fetched(let report) = try await NotesFiles().ask(.fetchAttachments(of: note.id), arguments) else {
            throw CommandFailure.otherAnswer
        }
        if arguments.has("json") { try StandardOutput.writeJSON(report) }
        return tell(report.attachments) ? .done : .failed
    }
}
