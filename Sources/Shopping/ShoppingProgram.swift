import CommandLineKit
import Handoff

/// What `shopping` can do.
enum ShoppingProgram {
    static let program = Program(
        name: "shopping",
        summary: "Keep a shopping list, and go on with it on your other machines",
        version: Version.current,
        verbs: [add, list, remove, view, edit, continueVerb]
    )

    private static let items = Completion.lines(of: "shopping list 2>/dev/null")

    private static let add = Verb(
        "add",
        "Put items on the list",
        positionals: [.required("ITEM", "What to buy"), .variadic("MORE", "More of it")],
        examples: [Example("shopping add Apples Nuts", "Put two items on the list")]
    ) { arguments in
        let items = [arguments.required("ITEM")] + arguments.values("MORE")
        guard !items.contains("") else { throw CommandFailure.usage("an item needs a text") }
        try ShoppingList.file().update(from: ShoppingList()) { _ = $0.merge(items) }
        return .done
    }

    private static let list = Verb(
        "list",
        "Print the list",
        options: [.flag("json", "Print a JSON array")]
    ) { arguments in
        let items = try ShoppingList.file().read()?.items ?? []
        if arguments.has("json") { try StandardOutput.writeJSON(items) } else { try show(items) }
        return .done
    }

    private static let remove = Verb(
        "remove",
        "Take an item off the list",
        positionals: [.required("ITEM", "The item", completion: items)]
    ) { arguments in
        try ShoppingList.file().update(from: ShoppingList()) { try $0.remove(arguments.required("ITEM")) }
        return .done
    }

    private static let view = Verb(
        "view",
        "Print the list, and offer it to your other machines",
        discussion: "It is offered until the input ends (Ctrl-D) or a signal arrives. An empty list is not offered."
    ) { _ in
        let input = await InputLines.open()
        let file = try ShoppingList.file()
        guard let items = try file.read()?.items, !items.isEmpty else {
            StandardError.write("The list is empty, and is not offered: add something with `shopping add ITEM`.\n")
            return .done
        }
        try show(items)
        StandardError.write("The list is offered to your other machines until Ctrl-D.\n")
        try await ShoppingPeer.offering {
            .view(try file.read()?.items ?? [])
        } while: {
            await input.end()
        }
        return .done
    }

    private static let edit = Verb(
        "edit",
        "Edit an item, and offer it to your other machines meanwhile",
        discussion: "Each line that you type is the item's new text. An empty line, or the end of the input (Ctrl-D), "
            + "puts it on the list; Ctrl-C leaves the list as it is.",
        positionals: [.required("ITEM", "The item", completion: items)]
    ) { arguments in
        let input = await InputLines.open()
        let file = try ShoppingList.file()
        let item = arguments.required("ITEM")
        guard try file.read()?.items.contains(item) == true else { throw ShoppingList.missing(item) }
        let text = LockedBox(item)
        StandardError.write("Type the new text of “\(printable(item))”; Enter alone keeps it.\n")
        try await ShoppingPeer.offering {
            .edit(text.withLock { $0 })
        } while: {
            while let line = try await input.next(), !line.isEmpty {
                text.withLock { $0 = line }
                StandardError.write("It is “\(printable(line))” now.\n")
            }
        }
        try file.update(from: ShoppingList()) { list in list.replace(item, with: text.withLock { $0 }) }
        return .done
    }

    private static let continueVerb = Verb(
        "continue",
        "Carry on with what the nearest of your machines does",
        discussion: "A list is merged into the one here: what is new comes after what is here. An item is put on the "
            + "list when you confirm it.",
        options: [.value("from", short: "f", "HOST", "Take it from this machine")]
    ) { arguments in
        let file = try ShoppingList.file()
        let activity = try await ShoppingPeer.continueNearest(from: arguments["from"]) { activity in
            guard case .view(let items) = activity else { return }
            try show(file.update(from: ShoppingList()) { $0.merge(items) })
        }
        guard case .edit(let item) = activity else { return .done }
        try show([item])
        let input = await InputLines.open()
        StandardError.write("Press Enter to put it on the list here, Ctrl-D not to.\n")
        guard try await input.next() != nil else {
            throw CommandFailure("“\(item)” was not put on the list")
        }
        try file.update(from: ShoppingList()) { _ = $0.merge([item]) }
        return .done
    }

    private static func show(_ items: [String]) throws {
        try StandardOutput.write(items.map { printable($0) + "\n" }.joined())
    }
}
