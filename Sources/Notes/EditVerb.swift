import CommandLineKit
import Glibc
import NotesKit

extension NotesProgram {
    static let editVerb = Verb(
        "edit",
        "Edit a note in your editor",
        discussion: "Runs the editor that VISUAL or EDITOR names. Each time that it writes the file, the note is saved; "
            + "closing it without a change changes nothing. While it is open, your other machines can go on with the "
            + "note, if the peer runs here.\n\n"
            + "If the note was changed elsewhere meanwhile, both texts are kept: yours in the note, the other in a note "
            + "beside it. If an editor was killed, the next one goes on with its text, once you say so.",
        positionals: [.optional("NOTE", "The note's title or id", completion: titles)],
        options: [
            .value("new", short: "n", "TITLE", "Make a note with this title, edit it, and print its id"),
            .value("title", short: "t", "TITLE", "Only give the note this title, and run no editor"),
            .flag("recover", "Go on with the text that a killed editor left"),
            .flag("discard", "Give up the text that a killed editor left"),
        ],
        examples: [
            Example("notes edit Groceries", "Edit the note named Groceries"),
            Example("EDITOR='code --wait' notes edit --new Ideas", "Make a note and edit it in another editor"),
            Example("notes edit Ideas --title 'Good ideas'", "Rename a note"),
        ]
    ) { arguments in
        try checkUsage(arguments)
        let store = try await openStore()
        if let title = arguments["title"] {
            return try await rename(store.note(matching: arguments["NOTE"] ?? ""), to: title, in: store)
        }
        guard let editor = Editor(environment: environment) else {
            throw CommandFailure("there is no editor: set EDITOR to the command that starts yours")
        }
        if let title = arguments["new"] {
            let note = try await store.create(title: title, content: "")
            let exit = try await edit(note, store.makeDraft(of: note, processID: getpid()), with: editor, in: store)
            try StandardOutput.write(note.id.text + "\n")
            return exit
        }
        let note = try await store.note(matching: arguments["NOTE"] ?? "")
        let draft = try await openDraft(of: note, in: store, arguments)
        return try await edit(note, draft, with: editor, in: store)
    }

    private static func checkUsage(_ arguments: Arguments) throws(CommandFailure) {
        guard arguments.has("NOTE") != arguments.has("new") else {
            throw .usage("say which note: NOTE, or --new TITLE")
        }
        let modes = ["new", "title", "recover", "discard"].filter(arguments.has)
        guard modes.count <= 1 else {
            throw .usage("--\(modes[0]) and --\(modes[1]) do not go together")
        }
    }

    private static func rename(_ note: Note, to title: String, in store: NotesStore) async throws -> ExitCode {
        let outcome = try await store.save(id: note.id, opened: note.version, title: title, content: note.content)
        if case .unchanged = outcome { return .done }
        tell([outcome])
        return .done
    }

    private static func edit(
        _ note: Note,
        _ draft: EditorDraft,
        with editor: Editor,
        in store: NotesStore
    ) async throws -> ExitCode {
        let result: EditorSession.Result
        do {
            result = try await EditorSession(store: store, editor: editor).run(on: draft)
        } catch {
            throw CommandFailure(
                "\(error)\nThe text is kept in \(draft.path): go on with it by `notes edit --recover \(note.id.text)`"
            )
        }
        tell(result.surprises)
        guard result.end == .exit(status: 0) else {
            throw CommandFailure("the editor “\(editor.command)” \(result.end); what it wrote is saved")
        }
        return .done
    }

    private static func tell(_ outcomes: [SaveOutcome]) {
        for outcome in outcomes {
            switch outcome {
            case .conflict(let note, let copy):
                program.complain(
                    "“\(note.title)” was changed elsewhere meanwhile, and both texts are kept: yours in the note "
                        + "\(note.id.text), the other in “\(copy.title)”, \(copy.id.text)"
                )
            case .broughtBack(let note):
                program.complain("“\(note.title)” was removed meanwhile, and is there again with your text: \(note.id.text)")
            case .saved, .unchanged: break
            }
        }
    }
}
