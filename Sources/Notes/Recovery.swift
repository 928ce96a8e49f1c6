import CommandLineKit
import Glibc
import NotesKit

extension NotesProgram {
    private enum Choice { case recover, discard }

    /// The draft to edit: a new one, or the one that a killed editor left, if the user wants it.
    static func openDraft(of note: Note, in store: NotesStore, _ arguments: Arguments) async throws -> EditorDraft {
        guard let left = try await store.draft(of: note.id), left.isLeftover else {
            guard !arguments.has("recover") else {
                throw CommandFailure("there is nothing to recover: no editor of “\(note.title)” was killed")
            }
            return try await store.makeDraft(of: note, processID: getpid())
        }
        // An editor that was killed after its last write has left nothing that the note does not have.
        let choice = try await store.hasUnsavedText(left) ? choose(for: note, arguments) : .discard
        if choice == .recover { return try await store.recoverDraft(of: note.id, processID: getpid()) }
        try await store.removeDraft(of: note.id)
        return try await store.makeDraft(of: note, processID: getpid())
    }

    private static func choose(for note: Note, _ arguments: Arguments) throws -> Choice {
        if arguments.has("recover") { return .recover }
        if arguments.has("discard") { return .discard }
        guard isatty(STDIN_FILENO) == 1, isatty(STDERR_FILENO) == 1 else { throw CommandFailure.unsavedText(of: note) }
        StandardError.write("An editor of “\(printable(note.title))” was killed before its text was saved.\n")
        while true {
            StandardError.write("[r]ecover it, [d]iscard it, or [q]uit? ")
            switch readLine()?.lowercased() {
            case "r", "recover": return .recover
            case "d", "discard": return .discard
            case "q", "quit", nil: throw CancellationError()
            default: continue
            }
        }
    }
}
