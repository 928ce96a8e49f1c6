import CommandLineKit
import Glibc
import NotesKit

extension NotesProgram {
    /// `notes edit`: in the user's editor, offered to the other machines meanwhile.
    static let editVerb = Verb(
        "edit",
        "Edit a note in your editor",
        discussion: "Runs the editor that VISUAL or EDITOR names. Each time that it writes the file, the note is "
            + "saved; closing it without a change changes nothing. While it is open, your other machines can go on "
            + "with the note, if the peer runs here.\n\n"
            + "If the note was changed elsewhere meanwhile, both texts are kept: yours in the note, the other in a note "
            + "beside it. If an editor was killed, the next one goes on with its text, once you say so.",
        positionals: [.optional("NOTE", "Id, unique prefix of an id, or title", completion: titles)],
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
        guard arguments.has("NOTE") != arguments.has("new") else {
            throw CommandFailure.usage("say which note: NOTE, or --new TITLE")
        }
        let modes = ["new", "title", "recover", "discard"].filter(arguments.has)
        guard modes.count <= 1 else {
            throw CommandFailure.usage("--\(modes[0]) and --\(modes[1]) do not go together")
        }
        let edit = try await NoteEdit()
        if let title = arguments["new"] { return try await edit.create(title: title) }
        let note = try await edit.store.note(matching: arguments["NOTE"] ?? "")
        if let title = arguments["title"] { return try await edit.rename(note, to: title) }
        let recovery: Recovery = arguments.has("recover") ? .recover : arguments.has("discard") ? .discard : .ask
        return try await edit.run(on: note, recovery)
    }
}

/// Opens the editor on the note with an id, as `notes continue` does.
func openEditor(on noteID: String) async throws -> ExitCode {
    let edit = try await NoteEdit()
    return try await edit.run(on: edit.store.note(matching: noteID), .ask)
}

/// The ways in which `notes edit` changes a note.
private struct NoteEdit {
    let store: NotesStore

    init() async throws {
        store = try await openStore()
    }

    func create(title: String) async throws -> ExitCode {
        let editor = try editor()
        let note = try await store.create(title: title, content: "")
        let exitCode = try await run(editor, on: note, store.makeDraft(of: note, processID: getpid()))
        try StandardOutput.write(note.id.text + "\n")
        return exitCode
    }

    func rename(_ note: Note, to title: String) async throws -> ExitCode {
        let outcome = try await store.save(id: note.id, opened: note.version, title: title, content: note.content)
        tell(outcome)
        await tellPeer(changed: outcome.note)
        return .done
    }

    func run(on note: Note, _ recovery: Recovery) async throws -> ExitCode {
        let editor = try editor()
        return try await run(editor, on: note, recovery.openDraft(of: note, in: store))
    }

    private func editor() throws -> Editor {
        guard let editor = Editor(environment: environment) else {
            throw CommandFailure("there is no editor: set EDITOR to the command that starts yours")
        }
        return editor
    }

    private func run(_ editor: Editor, on note: Note, _ draft: EditorDraft) async throws -> ExitCode {
        let peer = await offer(note)
        // The lease lasts as long as the connection.
        defer { withExtendedLifetime(peer) {} }
        let session = EditorSession(store: store, editor: editor) { note in
            _ = try? await peer?.request(.changed(note: note.id))
        }
        let result: EditorSession.Result
        do {
            result = try await session.run(on: draft)
        } catch {
            throw CommandFailure(
                "\(error)\nThe text is kept in \(draft.path): go on with it by `notes edit --recover \(note.id.text)`"
            )
        }
        result.surprises.forEach(tell)
        guard result.end == .exit(status: 0) else {
            throw CommandFailure("the editor “\(editor.command)” \(result.end); what it wrote is saved")
        }
        return .done
    }

    /// Makes a note the current activity for as long as the connection stands that this returns.
    private func offer(_ note: Note) async -> ControlClient? {
        do {
            guard let peer = try NotesFiles().connectToPeer() else {
                NotesProgram.program.complain("not offered: no peer is running here (start one with: notes run)")
                return nil
            }
            _ = try await peer.request(.hold(note: note.id))
            return peer
        } catch {
            NotesProgram.program.complain("not offered: \(error)")
            return nil
        }
    }

    private func tell(_ outcome: SaveOutcome) {
        switch outcome {
        case .saved, .unchanged: break
        case .conflict(let note, let copy):
            NotesProgram.program.complain(
                "“\(note.title)” was changed elsewhere meanwhile, and both texts are kept: yours in the note "
                    + "\(note.id.text), the other in “\(copy.title)”, \(copy.id.text)"
            )
        case .broughtBack(let note):
            NotesProgram.program.complain(
                "“\(note.title)” was removed meanwhile, and is there again with your text: \(note.id.text)"
            )
        }
    }
}
