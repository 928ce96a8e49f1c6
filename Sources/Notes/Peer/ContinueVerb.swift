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
            Takes the note over and prints its id. Where it was edited on both machines, both texts are kept and named. \
            Works without a running peer, too, only slower: it then looks for the others first.
            """,
        options: [
            .value("from", short: "f", "PEER", "Take it from this peer: a host's name, or a prefix of a peer's id"),
            .flag("edit", short: "e", "Open it in the editor"),
            .flag("json", "One JSON document"),
            .flag("verbose", short: "v", "Log what happens"),
        ],
        examples: [
            Example("notes continue", "Carry on with the nearest machine's note"),
            Example("notes continue --from kitchen --edit", "Take the kitchen's note and edit it"),
        ]
    ) { arguments in
        let files = try NotesFiles()
        let report: ContinueReport
        if let peer = try files.connectToPeer() {
            guard case .continued(let answer) = try await peer.request(.continueActivity(from: arguments["from"]))
            else {
                throw CommandFailure("the running peer answered something else: restart it after an update")
            }
            report = answer
        } else {
            report = try await continueAsVisitor(files, arguments)
        }
        for failure in report.failures {
            StandardError.write("notes: \(printable(failure.host)) failed: \(printable(failure.message))\n")
        }
        StandardError.write("notes: \(sentence(report))\n")
        if arguments.has("json") {
            try StandardOutput.writeJSON(report)
        } else {
            try StandardOutput.write(report.note + "\n")
        }
        if report.outcome == .removed { return .failed }
        return arguments.has("edit") ? try await openEditor(on: report.note) : .done
    }

    /// Finds, links, fetches and leaves by itself.
    private static func continueAsVisitor(_ files: NotesFiles, _ arguments: Arguments) async throws -> ContinueReport {
        let service = try NotesService(
            store: try await openStore(),
            identity: try files.identity(),
            discovery: try AvahiDiscovery(type: HandoffConfiguration.serviceType, log: log(arguments)),
            host: hostName(),
            isVisitor: true,
            log: log(arguments)
        )
        return try await service.continueAsVisitor(from: arguments["from"])
    }

    private static func sentence(_ report: ContinueReport) -> String {
        let title = "“\(printable(report.title))”"
        let host = printable(report.from.host)
        switch report.outcome {
        case .added: return "continued \(title) from \(host)"
        case .updated: return "continued \(title) from \(host); the text here was older"
        case .same: return "continued \(title) from \(host); the text here is the same"
        case .older: return "the text of \(title) on \(host) is older than the one here, which stays"
        case .removed: return "\(title) was removed here after \(host) had this text; it stays removed"
        case .conflict:
            return """
                \(title) was edited here and on \(host): both texts are kept, one as \(report.note), \
                the other as \(report.copy ?? "-") (conflict copy)
                """
        }
    }
}
