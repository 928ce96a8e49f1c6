import CommandLineKit
import Handoff

/// What `contacts` can do.
enum ContactsProgram {
    static let program = Program(
        name: "contacts",
        summary: "Keep contacts, and go on with one on your other machines",
        discussion: "NAME is a contact's full name, or its first or last name where only one contact has it. The list "
            + "stays on this machine: what is handed over is one contact, and only while you look at it or enter it.",
        version: Version.current,
        verbs: [add, list, show, remove, view, edit, continueVerb]
    )

    private static let name = Positional.required("NAME", "The contact's name")

    private static let add = Verb(
        "add",
        "Add a contact",
        options: Contact.Field.allCases.map { .value($0.rawValue, "TEXT", $0.prompt) },
        examples: [Example("contacts add --first Ada --last Lovelace", "Add a contact of whom you know the name")]
    ) { arguments in
        var contact = Contact()
        for field in Contact.Field.allCases { contact[field] = arguments[field.rawValue] ?? "" }
        guard !contact.name.isEmpty else { throw CommandFailure.usage("say who: --first TEXT, --last TEXT, or both") }
        try ContactBook().add(contact)
        return .done
    }

    private static let list = Verb(
        "list",
        "List the contacts",
        options: [.flag("json", "Print a JSON array")]
    ) { arguments in
        let contacts = try ContactBook().contacts()
        if arguments.has("json") {
            try StandardOutput.writeJSON(contacts)
        } else {
            try StandardOutput.write(contacts.map { printable($0.name) + "\n" }.joined())
        }
        return .done
    }

    private static let show = Verb("show", "Print a contact", positionals: [name]) { arguments in
        try StandardOutput.write(ContactBook().contact(named: arguments.required("NAME")).lines)
        return .done
    }

    private static let remove = Verb("remove", "Remove a contact", positionals: [name]) { arguments in
        try ContactBook().remove(named: arguments.required("NAME"))
        return .done
    }

    private static let view = Verb(
        "view",
        "Print a contact, and offer it to your other machines",
        discussion: "It is offered until the input ends (Ctrl-D) or a signal arrives.",
        positionals: [name]
    ) { arguments in
        try await look(at: ContactBook().contact(named: arguments.required("NAME")))
    }

    private static let edit = Verb(
        "edit",
        "Enter a contact, and offer it to your other machines meanwhile",
        discussion: "Asks for each field; an empty line leaves it empty. The contact is saved after the last one; "
            + "Ctrl-D and Ctrl-C leave without saving."
    ) { _ in
        try await enter(Contact(), confirms: false)
    }

    private static let continueVerb = Verb(
        "continue",
        "Carry on with what the nearest of your machines does",
        discussion: "A contact that is looked at there is looked at here, as `contacts view` does, and not saved. One "
            + "that is entered there is entered on here: its empty fields are asked for, and it is saved here when you "
            + "confirm it. What goes on here is offered in its turn.",
        options: [.value("from", short: "f", "HOST", "Take it from this machine")]
    ) { arguments in
        let (kind, contact) = try await ContactsPeer.continueNearest(from: arguments["from"])
        guard kind == .edit else { return try await look(at: contact) }
        try StandardOutput.write(contact.lines)
        return try await enter(contact, confirms: true)
    }

    /// Prints a contact, and offers it until the input ends.
    private static func look(at contact: Contact) async throws -> ExitCode {
        let input = await InputLines.open()
        try StandardOutput.write(contact.lines)
        StandardError.write("The contact is offered to your other machines until Ctrl-D.\n")
        try await ContactsPeer.offering(.view, on: ContactsPeer.make(), { contact }, while: { _ in await input.end() })
        return .done
    }

    /// Asks for a contact's empty fields and saves it; what is entered so far is offered meanwhile.
    private static func enter(_ contact: Contact, confirms: Bool) async throws -> ExitCode {
        let input = await InputLines.open()
        let book = try ContactBook()
        let entry = LockedBox(contact)
        try await ContactsPeer.offering(.edit, on: ContactsPeer.make(), { entry.withLock { $0 } }) { activity in
            for field in Contact.Field.allCases where contact[field].isEmpty {
                let text = try await ask("\(field.prompt): ", input)
                entry.withLock { $0[field] = text }
                activity.needsSave = true
            }
            if confirms { _ = try await ask("Press Enter to save it here, Ctrl-D not to. ", input) }
        }
        try book.add(entry.withLock { $0 })
        return .done
    }

    private static func ask(_ question: String, _ input: InputLines) async throws -> String {
        StandardError.write(question)
        guard let line = try await input.next() else { throw CommandFailure("the contact was not saved") }
        return line
    }
}
