import CommandLineKit
import FoundationEssentials
import Handoff
import NotesKit

extension NotesProgram {
    /// `notes open`: current without an editor.
    static let openVerb = Verb(
        "open",
        "Offer a note to your other machines, without an editor",
        discussion: """
            The note is what you are doing now until it is closed or removed, or the peer ends. The note that was opened \
            last is offered; when it is closed, the one before is again.
            """,
        positionals: [note()],
        examples: [Example("notes open Groceries", "Offer the note to the machine next to you")]
    ) { arguments in
        let files = try NotesFiles()
        let note = try await openStore().note(matching: arguments.required("NOTE"))
        _ = try await files.runningPeer().request(.open(note: note.id))
        return .done
    }

    /// `notes close`: offered no more.
    static let closeVerb = Verb(
        "close",
        "Stop offering a note that was opened",
        positionals: [.optional("NOTE", "Its title or id; without it, the one opened last", completion: titles)],
        examples: [Example("notes close", "Stop offering the note opened last")]
    ) { arguments in
        let files = try NotesFiles()
        var note: UUID?
        if let text = arguments["NOTE"] { note = try await openStore().note(matching: text).id }
        _ = try await files.runningPeer().request(.close(note: note))
        return .done
    }

    /// `notes activities`: what could be continued.
    static let activitiesVerb = Verb(
        "activities",
        "List what is offered, here and by your other machines, nearest first",
        options: [.flag("json", "One JSON document")],
        examples: [Example("notes activities", "See what could be continued here")]
    ) { arguments in
        guard case .activities(let list) = try await NotesFiles().runningPeer().request(.activities) else {
            throw CommandFailure.otherAnswer
        }
        if arguments.has("json") {
            try StandardOutput.writeJSON(["activities": list])
            return .done
        }
        for activity in list {
            guard let reason = activity.reason, let peer = activity.peer else { continue }
            let title = printable(activity.title)
            StandardError.write(
                "notes: “\(title)” on \(printable(peer.host)) cannot go on here: \(printable(reason))\n"
            )
        }
        let usable = list.filter { $0.reason == nil }
        guard !usable.isEmpty else {
            StandardError.write("notes: nothing is offered\n")
            return .done
        }
        var table = Table(columns: [
            .init("TITLE", isFlexible: true), .init("WHERE"), .init("PEER"), .init("RTT", isNumeric: true),
        ])
        for activity in usable {
            table.append([
                printable(activity.title), activity.peer.map { printable($0.host) } ?? "here",
                activity.peer?.id ?? "-", milliseconds(activity.peer?.rttMilliseconds),
            ])
        }
        let terminal = Terminal.standardOutput(environment: environment)
        try StandardOutput.write(table.text(width: terminal.width))
        return .done
    }

    /// `notes status`: the running peer.
    static let statusVerb = Verb(
        "status",
        "Show the peer that runs here",
        options: [.flag("json", "One JSON document")],
        examples: [Example("notes status", "See whether a peer runs here, and who is paired with it")]
    ) { arguments in
        guard case .status(let status) = try await NotesFiles().runningPeer().request(.status) else {
            throw CommandFailure.otherAnswer
        }
        if arguments.has("json") {
            try StandardOutput.writeJSON(status)
            return .done
        }
        var lines = [
            "running as \(status.id) on \(printable(status.host)), pid \(status.pid)"
                + (status.port.map { ", port \($0)" } ?? ""),
            status.service.map { "announced as \(printable($0))" } ?? "not announced",
            status.current.map { "offering “\(printable($0.title))”" } ?? "offering nothing",
        ]
        lines += status.problem.map { ["peers cannot be found now: \(printable($0))"] } ?? []
        lines += status.peers.map { peer in
            "paired with \(peer.id), \(printable(peer.name)) on \(printable(peer.host)), "
                + "\(milliseconds(peer.rttMilliseconds)) away"
        }
        if status.peers.isEmpty { lines.append("paired with nobody") }
        try StandardOutput.write(lines.map { $0 + "\n" }.joined())
        return .done
    }
}

/// A round-trip time for people: `0.4 ms`, or `-` where none was measured.
func milliseconds(_ value: Double?) -> String {
    guard let value else { return "-" }
    let tenths = Int((value * 10).rounded())
    return "\(tenths / 10).\(tenths % 10) ms"
}
