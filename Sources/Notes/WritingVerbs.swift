import CommandLineKit
import Glibc
import NotesKit

extension NotesProgram {
    static let newVerb = Verb(
        "new",
        "Make a note, and print its id",
        positionals: [.required("TITLE", "One line; several notes may have the same title")],
        options: [.value("content", short: "c", "TEXT", "The note's text; - reads it from standard input")],
        examples: [
            Example("notes new Groceries --content 'eggs, tea'", "Make a note with a text"),
            Example("date | notes new Today -c -", "Make a note of what another command prints"),
        ]
    ) { arguments in
        let content = arguments["content"] == "-" ? try readStandardInput() : arguments["content"] ?? ""
        let note = try await openStore().create(title: arguments.required("TITLE"), content: content)
        try StandardOutput.write(note.id.text + "\n")
        return .done
    }

    static let removeVerb = Verb(
        "rm",
        "Remove a note",
        discussion: "The removal reaches your other machines like any edit. A machine that edited the note meanwhile "
            + "brings it back.",
        positionals: [note()],
        examples: [Example("notes rm Groceries", "Remove the note named Groceries")]
    ) { arguments in
        let store = try await openStore()
        let note = try await store.note(matching: arguments.required("NOTE"))
        if let draft = try await store.draft(of: note.id), try await store.hasUnsavedText(draft) {
            throw CommandFailure.unsavedText(of: note)
        }
        try await store.remove(id: note.id)
        await tellPeer(changed: note)
        // Not its own, which the text that was removed still has, but those of texts that are forgotten by now.
        try await store.removeUnneededBlobs()
        return .done
    }

    private static func readStandardInput() throws -> String {
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        // A little more than a note may have is read, so that it is refused for its length.
        while bytes.count <= NoteText.maximumContentBytes {
            let count = read(STDIN_FILENO, &buffer, buffer.count)
            let code = errno
            if count == 0 { break }
            if count > 0 {
                bytes += buffer[..<count]
            } else if code != EINTR {
                throw CommandFailure("cannot read standard input: \(String(cString: strerror(code)))")
            }
        }
        // A text that is too long may have been cut inside a character, which is not what is wrong with it.
        guard bytes.count <= NoteText.maximumContentBytes else { throw NotesStoreError.contentTooLong }
        return try NoteText.decodeUTF8(bytes)
    }
}
