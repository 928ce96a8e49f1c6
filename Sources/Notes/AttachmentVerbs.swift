import CommandLineKit
import FoundationEssentials
import Handoff
import NotesKit

extension NotesProgram {
    /// `notes attach`: files become a part of a note.
    static let attachVerb = Verb(
        "attach",
        "Attach files to a note",
        discussion: "The files' contents are copied, so that what becomes of the files later does not matter. The same "
            + "content is kept once, whatever notes it belongs to. Attaching is a change of the note, and reaches your "
            + "other machines with it.\n\n"
            + "With --json: one object a line. Those whose event is “progress” have the keys name, stage (checking, "
            + "copying), completed and total (in bytes); those whose event is “attached” have name, size and sha256.",
        positionals: [note(), .variadic("FILE", "The files; symbolic links are followed", completion: .file)],
        options: [.flag("json", "Print JSON, one event a line")],
        examples: [
            Example("notes attach Holidays IMG_*.jpg", "Attach pictures"),
            Example("notes attach Report figures.ods --json", "Attach a file, with events for a program"),
        ]
    ) { arguments in
        let files = arguments.values("FILE")
        guard !files.isEmpty else { throw CommandFailure.usage("say which file: FILE") }
        let store = try await openStore()
        let note = try await store.note(matching: arguments.required("NOTE"))
        let isJSON = arguments.has("json")
        for file in files {
            let name = Attachment.name(ofFile: file)
            let changed = try await withProgress(of: name, isJSON: isJSON) { tell in
                try await store.attach(file, to: note.id, progress: tell)
            }
            await tellPeer(changed: changed)
            if isJSON, let attachment = changed.attachments.first(where: { $0.name == name }) {
                try StandardOutput.writeJSON(AttachedEvent(attachment))
            }
        }
        return .done
    }

    /// `notes attachments`: what belongs to a note.
    static let attachmentsVerb = Verb(
        "attachments",
        "List a note's attachments",
        discussion: "The state is “here”, “missing” where the content is on another machine only, or how much of it "
            + "has come.\n\n"
            + "With --json: one array, of objects with the keys name, size (in bytes), sha256, state (here, partial, "
            + "missing) and present (how many bytes are here).",
        positionals: [note()],
        options: [.flag("json", "Print JSON")],
        examples: [Example("notes attachments Holidays", "See what is attached")]
    ) { arguments in
        let store = try await openStore()
        let note = try await store.note(matching: arguments.required("NOTE"))
        let listed = note.attachments.map { ListedAttachment($0, store.blobState(of: $0)) }
        if arguments.has("json") {
            try StandardOutput.writeJSON(listed)
        } else if listed.isEmpty {
            StandardError.write("“\(printable(note.title))” has no attachments: add some with `notes attach`.\n")
        } else {
            var table = Table(columns: [
                .init("NAME", isFlexible: true), .init("SIZE", isNumeric: true), .init("STATE"), .init("SHA-256"),
            ])
            for attachment in listed { table.append(attachment.cells) }
            try StandardOutput.write(table.text(width: Terminal.standardOutput(environment: environment).width))
        }
        return .done
    }

    /// `notes save-attachment`: a content becomes a file again.
    static let saveAttachmentVerb = Verb(
        "save-attachment",
        "Write an attachment to a file, and print the file's path",
        discussion: "The file appears whole and checked, or not at all; only you can read it. A file that exists is "
            + "never overwritten, unless --force is given. In a directory it is named after the attachment, with a first "
            + "dot, hyphen or tilde replaced.",
        positionals: [note(), attachment],
        options: [
            .value("output", short: "o", "FILE|DIR", "Where to; the current directory without it", completion: .file),
            .flag("force", "Replace a file that exists"),
        ],
        examples: [
            Example("notes save-attachment Holidays beach.jpg", "Write the picture to the current directory"),
            Example("notes save-attachment Report figures.ods -o /srv/figures.ods --force", "Replace a file by it"),
        ]
    ) { arguments in
        let store = try await openStore()
        let attachment = try await store.note(matching: arguments.required("NOTE"))
            .attachment(matching: arguments.required("ATTACHMENT"))
        let path = path(for: attachment, output: arguments["output"] ?? ".")
        do {
            // Nobody looks for what would be left beside a file that is not there.
            try await untilSignal {
                try await withProgress(of: attachment.name, isJSON: false) { tell in
                    try await store.copy(attachment, to: path, replacing: arguments.has("force"), progress: tell)
                }
            }
        } catch let error as TransferError where error.code == .targetExists {
            throw CommandFailure("\(path) exists: choose another name with --output, or replace it with --force")
        }
        try StandardOutput.write(path + "\n")
        return .done
    }

    /// `notes detach`: files are taken from a note.
    static let detachVerb = Verb(
        "detach",
        "Take an attachment from a note",
        discussion: "The content is removed when no note has it any more, nor one of the texts that were replaced.",
        positionals: [note(), attachment],
        examples: [Example("notes detach Holidays beach.jpg", "Take the picture from the note")]
    ) { arguments in
        let store = try await openStore()
        let note = try await store.note(matching: arguments.required("NOTE"))
        let attachment = try note.attachment(matching: arguments.required("ATTACHMENT"))
        await tellPeer(changed: try await store.detach(attachment, from: note.id))
        try await store.removeUnneededBlobs()
        return .done
    }

    private static let attachment = Positional.required(
        "ATTACHMENT",
        "Its name, or a beginning of its SHA-256 (four digits at least)"
    )

    /// Where an attachment is written to: a file that the user named, or one in a directory.
    private static func path(for attachment: Attachment, output: String) -> String {
        var isDirectory = false
        guard FileManager.default.fileExists(atPath: output, isDirectory: &isDirectory), isDirectory else {
            return output
        }
        let name = attachment.suggestedFileName
        return output == "." ? name : output.hasSuffix("/") ? output + name : "\(output)/\(name)"
    }
}

/// Does something that the user may break off by Ctrl-C, and that then tidies up.
private func untilSignal(_ body: @escaping @Sendable () async throws -> Void) async throws {
    let signals = await SignalStream.open()
    try await withThrowingTaskGroup(of: Void.self) { group in
        group.addTask { try await body() }
        group.addTask {
            for await _ in signals { throw CancellationError() }
        }
        defer { group.cancelAll() }
        try await group.next()
    }
}

/// Shows how far the copying of a file is while it is done.
private func withProgress<Result: Sendable>(
    of name: String,
    isJSON: Bool,
    _ body: @Sendable (_ tell: @escaping @Sendable (TransferProgress) -> Void) async throws -> Result
) async throws -> Result {
    try await withProgress(isJSON: isJSON) { tell in
        // What is received elsewhere is copied here.
        try await body { tell(name, $0.stage == .checking ? "checking" : "copying", $0.completed, $0.total) }
    }
}

/// What `attach --json` tells of a file that was attached.
private struct AttachedEvent: Encodable {
    let event = "attached"
    let name: String
    let size: Int64
    let sha256: String

    private enum CodingKeys: String, CodingKey { case event, name, size, sha256 }

    init(_ attachment: Attachment) {
        name = attachment.name
        size = attachment.size
        sha256 = attachment.digest.description
    }
}

/// What `attachments` tells of an attachment.
private struct ListedAttachment: Encodable {
    let name: String
    let size: Int64
    let sha256: String
    let state: String
    let present: Int64

    init(_ attachment: Attachment, _ blob: BlobState) {
        name = attachment.name
        size = attachment.size
        sha256 = attachment.digest.description
        (state, present) =
            switch blob {
            case .here: ("here", attachment.size)
            case .partial(let bytes): ("partial", bytes)
            case .missing: ("missing", 0)
            }
    }

    var cells: [String] {
        let shown = state == "partial" ? "\(byteText(present)) here" : state
        return [name, byteText(size), shown, String(sha256.prefix(12))]
    }
}
