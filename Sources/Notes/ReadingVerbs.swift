import CommandLineKit
import FoundationEssentials
import Glibc
import NotesKit

extension NotesProgram {
    static let listVerb = Verb(
        "list",
        "List the notes, the latest changed first",
        discussion: "With --json: one array, of objects with the keys id, title, bytes (the text's length in UTF-8), "
            + "attachments (how many), created and modified (ISO 8601, UTC).",
        options: [.flag("json", "Print JSON"), .flag("titles", "Print the titles only, one a line")]
    ) { arguments in
        let notes = try await openStore().list()
        if arguments.has("json") {
            try StandardOutput.writeJSON(notes.map(ListedNote.init))
        } else if arguments.has("titles") {
            try StandardOutput.write(notes.map { printable($0.title) + "\n" }.joined())
        } else if notes.isEmpty {
            StandardError.write("There are no notes yet: make one with `notes new TITLE`.\n")
        } else {
            let width = Terminal.standardOutput(environment: environment).width
            try StandardOutput.write(table(of: notes).text(width: width))
        }
        return .done
    }

    static let showVerb = Verb(
        "show",
        "Print a note's text",
        discussion: "The text is printed byte for byte; on a terminal, control characters are shown as escapes.\n\n"
            + "With --json: one object with the keys id, title, content, attachments (objects with name, size and "
            + "sha256), created and modified (ISO 8601, UTC), version (for each machine's notes, how many of its saves "
            + "the text contains) and hash (in hex; SHA-256 of title and content, each after its length in bytes as 32 "
            + "bits, big-endian; then, for each attachment, of its name in the same way, its size as 64 bits and its "
            + "SHA-256).",
        positionals: [note()],
        options: [.flag("json", "Print JSON")],
        examples: [Example("notes show Groceries | lpr", "Print a note on paper")]
    ) { arguments in
        let note = try await openStore().note(matching: arguments.required("NOTE"))
        if arguments.has("json") {
            try StandardOutput.writeJSON(ShownNote(note))
        } else if Terminal.standardOutput(environment: environment).isTerminal {
            try StandardOutput.write(printableLines(note.content))
            tellOfAttachments(note)
        } else {
            try StandardOutput.write(note.content)
        }
        return .done
    }

    /// Says on stderr what the text alone would not.
    private static func tellOfAttachments(_ note: Note) {
        guard !note.attachments.isEmpty else { return }
        let names = note.attachments.map { printable($0.name) }.joined(separator: ", ")
        StandardError.write("\(note.content.hasSuffix("\n") ? "" : "\n")Attached: \(names)\n")
    }

    private static func table(of notes: [NoteSummary]) -> Table {
        // Those who attach nothing need no column of zeros.
        let hasAttachments = notes.contains { $0.attachmentCount > 0 }
        let files = hasAttachments ? [Table.Column("FILES", isNumeric: true)] : []
        var table = Table(
            columns: [.init("ID"), .init("TITLE", isFlexible: true), .init("BYTES", isNumeric: true)] + files
                + [.init("MODIFIED")]
        )
        let ids = notes.map(\.id.text)
        // As few digits as tell all notes apart, and not so few that the next note would need more.
        let length = (8..<36).first { length in Set(ids.map { $0.prefix(length) }).count == ids.count } ?? 36
        for (note, id) in zip(notes, ids) {
            let files = hasAttachments ? ["\(note.attachmentCount)"] : []
            table.append(
                [String(id.prefix(length)), note.title, "\(note.contentBytes)"] + files + [localTime(note.modified)]
            )
        }
        return table
    }

    private static func localTime(_ date: Date) -> String {
        // A date may come from a peer, and be any number.
        var seconds = time_t(exactly: date.timeIntervalSince1970.rounded()) ?? 0
        var parts = tm()
        localtime_r(&seconds, &parts)
        return String(unsafeUninitializedCapacity: 32) { buffer in
            buffer.withMemoryRebound(to: CChar.self) { strftime($0.baseAddress, $0.count, "%Y-%m-%d %H:%M", &parts) }
        }
    }

    /// A text for the terminal: its lines and tabs, and nothing else that a terminal would obey.
    private static func printableLines(_ text: String) -> String {
        text.unicodeScalars.split(separator: "\n", omittingEmptySubsequences: false).map { line in
            line.split(separator: "\t", omittingEmptySubsequences: false).map { printable(String($0)) }
                .joined(separator: "\t")
        }
        .joined(separator: "\n")
    }
}

/// What `list --json` tells of a note.
private struct ListedNote: Encodable {
    let id: String
    let title: String
    let bytes: Int
    let attachments: Int
    let created: Date
    let modified: Date

    init(_ note: NoteSummary) {
        id = note.id.text
        title = note.title
        bytes = note.contentBytes
        attachments = note.attachmentCount
        created = note.created
        modified = note.modified
    }
}

/// What `show --json` tells of a note.
private struct ShownNote: Encodable {
    let id: String
    let title: String
    let content: String
    let attachments: [Attachment]
    let created: Date
    let modified: Date
    let version: [String: UInt64]
    let hash: String

    init(_ note: Note) {
        id = note.id.text
        title = note.title
        content = note.content
        attachments = note.attachments
        created = note.created
        modified = note.modified
        version = note.version.counters
        hash = note.contentHash.map { byte in (byte < 16 ? "0" : "") + String(byte, radix: 16) }.joined()
    }
}
