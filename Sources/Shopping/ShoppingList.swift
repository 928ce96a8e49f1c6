import CommandLineKit
import FoundationEssentials

/// The shopping list: items in the order they were added, none of them twice.
struct ShoppingList: Codable {
    private(set) var items: [String] = []

    /// Adds what is not on the list yet, after what is.
    ///
    /// - Returns: What was added; merging the same items again adds nothing.
    mutating func merge(_ new: [String]) -> [String] {
        var added: [String] = []
        for item in new where !item.isEmpty && !items.contains(item) {
            items.append(item)
            added.append(item)
        }
        return added
    }

    /// Takes an item off the list.
    mutating func remove(_ item: String) throws {
        guard let place = items.firstIndex(of: item) else { throw Self.missing(item) }
        items.remove(at: place)
    }

    /// Gives an item another text in its place; where it was removed meanwhile, the text is added.
    mutating func replace(_ item: String, with text: String) {
        if let place = items.firstIndex(of: item), !items.contains(text) {
            items[place] = text
            return
        }
        if text != item { items.removeAll { $0 == item } }
        _ = merge([text])
    }

    static func missing(_ item: String) -> CommandFailure {
        CommandFailure("“\(item)” is not on the list: see `shopping list`, or add it with `shopping add`")
    }

    /// The list of this user on this machine.
    static func file() throws -> JSONFile<ShoppingList> {
        let paths = try HandoffPaths(environment: ProcessInfo.processInfo.environment)
        return JSONFile("shopping.json", in: paths.data)
    }
}
