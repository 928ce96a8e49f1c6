import CommandLineKit
import NotesKit

extension CommandFailure {
    /// The running peer is of another version than this command.
    static let otherAnswer = CommandFailure("the running peer answered something else: restart it after an update")

    /// An editor was ended before its text was saved, and nothing may happen to the note until that is settled.
    static func unsavedText(of note: Note) -> CommandFailure {
        CommandFailure(
            "“\(note.title)” has text that an editor wrote and that was not saved: go on with it by "
                + "`notes edit --recover \(note.id.text)`, or give it up by `notes edit --discard \(note.id.text)`"
        )
    }
}
