import CommandLineKit
import FoundationEssentials
import Handoff
import NotesKit

extension NotesProgram {
    /// `notes continue`: carry on with what another machine does.
    static let continueVerb = Verb(
        "continue",
        "Carry on with the note that is open on the nearest of your machines",
        discussion: """
            Takes the note over with its attachments, and prints its id. Where it was edited on both machines, both texts \
            are kept and named. Where an attachment breaks off, the exit code is 1 and the text is here; the next try goes \
            on from there. Works without a running peer, too, only slower: it then looks for the others first.

            With --json: one object, on the last line; while attachments are on their way, objects whose event is \
            “progress” come before it, with the keys name, stage, completed and total (in bytes).
            """,
        options: [
            .value("from", short: "f", "PEER", "Take it from this peer: a host's name, or a prefix of a peer's id"),
            .flag("edit", short: "e", "Open it in the editor, if it is not open in one here already"),
            .flag("follow", "Go on taking what is written there, until you work on the note here"),
            .flag("print-url", "Of what is no note but has a web page, print the page's address"),
            .flag("json", "Print JSON"),
            peerOption,
            .flag("verbose", short: "v", "Log what happens, and say why that peer was chosen"),
        ],
        examples: [
            Example("notes continue", "Carry on with the nearest machine's note"),
            Example("notes continue --from kitchen --edit", "Take the kitchen's note and edit it"),
            Example("notes continue --peer office.example.org", "Carry on through a VPN, where no announcement gets"),
            Example("notes continue --follow", "Read here what is being written there"),
            Example("xdg-open \"$(notes continue --print-url)\"", "Open in a browser what another app shows there"),
        ]
    ) { arguments in
        var options = ContinueOptions()
        options.includesWebpages = arguments.has("print-url")
        options.follows = arguments.has("follow")
        let files = try NotesFiles()
        if options.follows { _ = try files.runningPeer() }
        switch try await files.ask(.continueActivity(from: arguments["from"], options), arguments) {
        case .continued(let report): return try await finish(report, arguments)
        case .webpage(let report):
            tell(report.failures)
            let host = printable(report.from.host)
            StandardError.write("notes: “\(printable(report.title))” on \(host) is no note; this is its web page\n")
            if arguments.has("json") {
                try StandardOutput.writeJSON(report)
            } else {
                try StandardOutput.write(printable(report.address) + "\n")
            }
            return .done
        default: throw CommandFailure.otherAnswer
        }
    }

    private static func finish(_ report: ContinueReport, _ arguments: Arguments) async throws -> ExitCode {
        tell(report.failures)
        if arguments.has("verbose"), let reason = report.reason {
            StandardError.write("notes: chose \(printable(report.from.host)): \(printable(reason))\n")
        }
        StandardError.write("notes: \(sentence(report))\n")
        if arguments.has("json") {
            try StandardOutput.writeJSON(report)
        } else {
            try StandardOutput.write(report.note + "\n")
        }
        let isWhole = tell(report.attachments)
        if report.outcome == .removed { return .failed }
        guard arguments.has("edit") else { return isWhole ? .done : .failed }
        guard !report.isOpenInEditor else {
            StandardError.write("notes: it is open in an editor here already: go on there\n")
            return .done
        }
        return try await openEditor(on: report.note)
    }
}
