import CommandLineKit
import FoundationEssentials
import NotesKit

extension NotesProgram {
    /// `notes send`: hand a note to another machine, without anybody there.
    static let sendVerb = Verb(
        "send",
        "Send a note to another of your machines",
        discussion: """
            The note is there, in its newest text and with its attachments, when the command is done; where it was edited on \
            both machines, both texts are kept there. The other machine decides whether it takes notes that are sent to it: "accept" in its \
            configuration is "any" (the default), "never", or a list of host names and machine ids.
            """,
        positionals: [note()],
        options: [
            .value("to", short: "t", "PEER", "A host's name, or a prefix of a peer's id; see `notes status`"),
            .flag(
                "json",
                "Print JSON: one object, on the last line, after progress events as `notes continue` has them"
            ),
            peerOption,
            .flag("verbose", short: "v", "Log what happens"),
        ],
        examples: [Example("notes send Groceries --to kitchen", "Put the note on the machine in the kitchen")]
    ) { arguments in
        guard let peer = arguments["to"] else { throw CommandFailure.usage("say to whom: --to PEER") }
        let note = try await openStore().note(matching: arguments.required("NOTE"))
        guard case .sent(let report) = try await NotesFiles().ask(.send(note: note.id, to: peer), arguments) else {
            throw CommandFailure.otherAnswer
        }
        StandardError.write("notes: “\(printable(report.title))” is on \(printable(report.to.host))\n")
        if arguments.has("json") { try StandardOutput.writeJSON(report) }
        return .done
    }
}
