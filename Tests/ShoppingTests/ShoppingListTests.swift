import Foundation
import Handoff
import Testing

@testable import Shopping

@Suite("The shopping list")
struct ShoppingListTests {
    private func list(_ items: String...) -> ShoppingList {
        var list = ShoppingList()
        _ = list.merge(items)
        return list
    }

    @Test("puts what is new after what is there, and nothing twice (003-9)")
    func merges() {
        var list = list("Milk", "Nuts")
        #expect(list.merge(["Ice cream", "Nuts", "", "Apple", "Apple"]) == ["Ice cream", "Apple"])
        #expect(list.items == ["Milk", "Nuts", "Ice cream", "Apple"])
        #expect(list.merge(["Ice cream", "Nuts", "Apple"]).isEmpty)
        #expect(list.items == ["Milk", "Nuts", "Ice cream", "Apple"])
    }

    @Test("gives an item its new text in its place, without making another one double")
    func replaces() {
        let cases = [
            ("B", "X", ["A", "X", "C"]), ("B", "B", ["A", "B", "C"]), ("B", "C", ["A", "C"]),
            ("gone", "X", ["A", "B", "C", "X"]), ("gone", "gone", ["A", "B", "C", "gone"]),
        ]
        for (item, text, items) in cases {
            var list = list("A", "B", "C")
            list.replace(item, with: text)
            #expect(list.items == items, "\(item) to \(text)")
        }
    }

    @Test("loses an item that is removed, and says when there is none")
    func removes() throws {
        var list = list("A", "B")
        try list.remove("A")
        #expect(list.items == ["B"])
        #expect(throws: (any Error).self) { try list.remove("A") }
    }

    @Test(
        "and an item travel without loss, each as a type of its own (004-1)",
        arguments: [ShoppingActivity.view(["Äpfel 🍏", "b"]), .view([]), .edit("")]
    )
    func travels(activity: ShoppingActivity) throws {
        #expect(try ShoppingActivity(type: activity.type, userInfo: activity.userInfo) == activity)
        let (type, key) =
            switch activity {
            case .view: ("org.handoff.shopping.view", "items")
            case .edit: ("org.handoff.shopping.edit", "item")
            }
        #expect(activity.type == type)
        #expect(Array(activity.userInfo.keys) == [key])
    }

    @Test(
        "refuses what is not of its format (003-11)",
        arguments: [
            (ShoppingActivity.viewType, [:]), (ShoppingActivity.viewType, ["items": "Nuts"]),
            (ShoppingActivity.viewType, ["items": ["Nuts", 1]]), (ShoppingActivity.viewType, ["item": "Nuts"]),
            (ShoppingActivity.editType, [:]), (ShoppingActivity.editType, ["item": ["Nuts"]]),
        ] as [(String, [String: PropertyList])]
    )
    func refuses(type: String, userInfo: [String: PropertyList]) {
        let error = #expect(throws: HandoffError.self) { try ShoppingActivity(type: type, userInfo: userInfo) }
        #expect(error?.code == .missingKey)
    }

    @Test("is read whatever a newer version of the app adds to it")
    func newer() throws {
        let userInfo: [String: PropertyList] = ["items": ["Nuts"], "version": 2, "prices": [1.5]]
        #expect(try ShoppingActivity(type: ShoppingActivity.viewType, userInfo: userInfo) == .view(["Nuts"]))
    }

    @Test("refuses a type that it does not know (003-8)")
    func unknown() {
        let error = #expect(throws: HandoffError.self) { try ShoppingActivity(type: "org.example.x", userInfo: [:]) }
        #expect(error?.code == .invalidActivity)
    }
}

@Suite("The tutorial")
struct TutorialTests {
    @Test("shows code that stands in the sources")
    func excerpts() throws {
        let repository = URL(filePath: #filePath)
            .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        let sources = repository.appending(path: "Sources/Shopping")
        let code = try FileManager.default.contentsOfDirectory(at: sources, includingPropertiesForKeys: nil)
            .map { unindented(try String(contentsOf: $0, encoding: .utf8)) }
        let tutorial = try String(contentsOf: repository.appending(path: "docs/tutorial.md"), encoding: .utf8)
        let excerpts = tutorial.components(separatedBy: "```swift\n").dropFirst()
            .map { unindented($0.components(separatedBy: "```")[0]) }
        #expect(excerpts.count > 5)
        for excerpt in excerpts { #expect(code.contains { $0.contains(excerpt) }, "\(excerpt)") }
    }

    private func unindented(_ text: String) -> String {
        text.split(separator: "\n", omittingEmptySubsequences: false)
            .map { $0.trimmingCharacters(in: .whitespaces) }.joined(separator: "\n")
    }
}
