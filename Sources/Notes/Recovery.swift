import CommandLineKit
import Glibc
import NotesKit

/// What becomes of the text that a killed editor left.
enum Recovery {
    case ask, recover, discard

    /// The draft to edit: a new one, or the one that a killed editor left, if the user wants it.
    func openDraft(of note: Note, in store: NotesStore) async throws -> EditorDraft {
        guard let left = try await store.draft(of: note.id), left.isLeftover else {
            guard self != .recover else {
                throw CommandFailure("there is nothing to recover: no editor of “\(note.title)” was killed")
            }
            return try await store.makeDraft(of: note, processID: getpid())
        }
        // An editor that was killed after its last write has left nothing that the note does not have.
        let isWanted = try await store.hasUnsavedText(left) && recovers(note)
        if isWanted { return try await store.recoverDraft(of: note.id, processID: getpid()) }
        try await store.removeDraft(of: note.id)
        return try await store.makeDraft(of: note, processID: getpid())
    }

    private func recovers(_ note: Note) throws -> Bool {
        guard self == .ask else { return self == .recover }
        guard isatty(STDIN_FILENO) == 1, isatty(STDERR_FILENO) == 1 else { throw CommandFailure.unsavedText(of: note) }
        StandardError.write("An editor of “\(printable(note.title))” was killed before its text was saved.\n")
        while true {
            StandardError.write("[r]ecover it, [d]iscard it, or [q]uit? ")
            switch readLine()?.lowercased() {
            case "r", "recover": return true
            case "d", "discard": return false
            case "q", "quit", nil: throw CancellationError()
            default: continue
            }
        }
    }
}
