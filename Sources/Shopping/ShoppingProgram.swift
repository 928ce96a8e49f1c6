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
        if arguments.has("json") { try StandardOutput.writeJSON(items) } else { try ShoppingTerminal.show(items) }
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
        discussion: "Until the input ends (Ctrl-D) or a signal arrives, lines change the list: `add ITEM`, `remove "
            + "ITEM`, `edit ITEM`, `list` to print it again. After `edit ITEM`, or `add` alone, that item is offered "
            + "instead; each line is its new text, an empty one puts it on the list, and `cancel` or the end leaves the "
            + "list as it is. An empty list is not offered until something is on it."
    ) { _ in
        let input = await InputLines.open()
        try await ShoppingTerminal(ShoppingList.file(), input: input).view()
        return .done
    }

    private static let edit = Verb(
        "edit",
        "Edit an item, and offer it to your other machines meanwhile",
        discussion: "Each line that you type is the item's new text. An empty line puts it on the list; a line "
            + "`cancel`, the end of the input (Ctrl-D) and Ctrl-C leave the list as it is.",
        positionals: [.required("ITEM", "The item", completion: items)]
    ) { arguments in
        let input = await InputLines.open()
        try await ShoppingTerminal(ShoppingList.file(), input: input).edit(arguments.required("ITEM"))
        return .done
    }

    private static let continueVerb = Verb(
        "continue",
        "Carry on with what the nearest of your machines does",
        discussion: "A list is merged into the one here, what is new after what is here, and you look at it here then "
            + "as in `shopping view`. An item you edit on as in `shopping edit`: it is put on the list here when you "
            + "confirm it. Either is offered in its turn.",
        options: [.value("from", short: "f", "HOST", "Take it from this machine")]
    ) { arguments in
        let file = try ShoppingList.file()
        let activity = try await ShoppingPeer.continueNearest(from: arguments["from"]) { activity in
            guard case .view(let items) = activity else { return }
            let new = try file.update(from: ShoppingList()) { $0.merge(items) }
            StandardError.write(new.map { "New here: \(printable($0))\n" }.joined())
        }
        let input = await InputLines.open()
        let terminal = try ShoppingTerminal(file, input: input)
        switch activity {
        case .view: try await terminal.view()
        case .edit(let text):
            try ShoppingTerminal.show([text])
            try await terminal.edit(nil, text: text)
        }
        return .done
    }
}
