import CommandLineKit
import Foundation
import Handoff
import Testing

@testable import Shopping

@Suite("A shopping session", .timeLimit(.minutes(1)))
struct ShoppingSessionTests {
    private let list = "Shopping list"
    private let item = "Shopping list item"

    @Test("offers the list that is there, whole and in its order (004-2, 004-3, 004-4)")
    func offersList() async throws {
        try await Scene.with(["Ice cream", "Apple", "Nuts"]) { scene in
            try await scene.session.reload()
            try await scene.offers(list)
            #expect(try await scene.takenOver() == .view(["Ice cream", "Apple", "Nuts"]))
        }
    }

    @Test("offers nothing before the list is read, nor one that cannot be read (004-6)")
    func offersNothingUnread() async throws {
        try await Scene.with(["Nuts"]) { scene in
            #expect(await scene.session.current == nil)
            try await scene.session.reload()
            try await scene.offers(list)
            let path = URL(filePath: scene.directory + "/shopping.json")
            let good = try Data(contentsOf: path)
            try Data("{".utf8).write(to: path)
            await #expect(throws: (any Error).self) { try await scene.session.reload() }
            try await scene.offers(nil)
            try good.write(to: path)
            try await scene.session.reload()
            try await scene.offers(list)
        }
    }

    @Test("offers no empty list, and begins with the first item, however that comes (004-4, 004-5)")
    func offersFromFirstItem() async throws {
        try await Scene.with([]) { scene in
            let session = scene.session
            try await session.reload()
            #expect(await session.current == nil)
            let beginnings: [() async throws -> Void] = [
                { try await session.add("Nuts") },
                {
                    try await session.beginNew()
                    try await session.type("Nuts")
                    try await session.confirm()
                },
                {
                    // Another process adds it.
                    try scene.file.update(from: ShoppingList()) { _ = $0.merge(["Nuts"]) }
                    try await session.reload()
                },
            ]
            for begin in beginnings {
                try await begin()
                try await scene.offers(list)
                #expect(try await scene.takenOver() == .view(["Nuts"]))
                try await session.remove("Nuts")
                try await scene.offers(nil)
            }
        }
    }

    @Test("hands a shorter list over when an item is removed, and offers nothing after the last (003-2, 004-5)")
    func removes() async throws {
        try await Scene.with(["Apple", "Nuts"]) { scene in
            try await scene.session.reload()
            let offer = try await scene.offers(list)
            #expect(try await scene.takenOver() == .view(["Apple", "Nuts"]))
            try await scene.session.remove("Apple")
            #expect(try await scene.offers(list) == offer, "it is the same activity")
            #expect(try await scene.takenOver() == .view(["Nuts"]))
            await #expect(throws: (any Error).self) { try await scene.session.remove("Apple") }
            try await scene.session.remove("Nuts")
            try await scene.offers(nil)
        }
    }

    @Test(
        "offers an edited item instead of the list, then a new activity of the list (003-1, 003-3, 003-7, 003-12)",
        arguments: [false, true],
        [false, true]
    )
    func edits(isNew: Bool, isSaved: Bool) async throws {
        try await Scene.with(["Nuts"]) { scene in
            let session = scene.session
            try await session.reload()
            let first = try await scene.offers(list)
            let old = try #require(await scene.onlooker.candidates().first)
            if isNew { try await session.beginNew() } else { try await session.beginEdit(of: "Nuts") }
            try await scene.offers(item)
            await #expect(throws: HandoffError(.handoffFailed, "")) { try await scene.onlooker.continueActivity(old) }
            try await session.type("Bolts")
            if isSaved { try await session.confirm() } else { try await session.cancel() }
            let second = try await scene.offers(list)
            #expect(first != second)
            let items = isSaved ? (isNew ? ["Nuts", "Bolts"] : ["Bolts"]) : ["Nuts"]
            #expect(try await scene.takenOver() == .view(items))
            #expect(try scene.file.read()?.items == items)
            await session.end()
            try await scene.offers(nil)
        }
    }

    @Test("hands over one item as its text is by then, however often that changed (003-4, 003-5, 004-3)")
    func types() async throws {
        try await Scene.with(["Apple", "Nuts"]) { scene in
            try await scene.session.reload()
            try await scene.session.beginEdit(of: "Nuts")
            let offer = try await scene.offers(item)
            #expect(try await scene.takenOver() == .edit("Nuts"))
            for number in 0...1000 { try await scene.session.type("\(number)") }
            #expect(try await scene.takenOver() == .edit("1000"))
            #expect(try await scene.offers(item) == offer)
            try await scene.session.cancel()
            try await scene.offers(list)
            try await scene.session.beginNew()
            try await scene.offers(item)
            #expect(try await scene.takenOver() == .edit(""))
        }
    }

    @Test("hands over the other item where that is edited without leaving the first (003-6)")
    func switches() async throws {
        try await Scene.with(["Apple", "Nuts"]) { scene in
            try await scene.session.beginEdit(of: "Nuts")
            try await scene.offers(item)
            #expect(try await scene.takenOver() == .edit("Nuts"))
            try await scene.session.beginEdit(of: "Apple")
            #expect(try await scene.takenOver() == .edit("Apple"))
        }
    }

    @Test("of one item stores nothing before it is confirmed, and offers nothing afterwards (003-7, 003-10)")
    func confirms() async throws {
        try await Scene.with(["Milk"], showsList: false) { scene in
            let session = scene.session
            try await session.beginNew("Hazelnuts")
            try await scene.offers(item)
            try await session.cancel()
            try await scene.offers(nil)
            #expect(await !session.hasSaved)
            try await session.beginNew("Hazelnuts")
            try await scene.offers(item)
            #expect(try scene.file.read()?.items == ["Milk"])
            try await session.confirm()
            try await scene.offers(nil)
            #expect(await session.hasSaved)
            #expect(try scene.file.read()?.items == ["Milk", "Hazelnuts"])
        }
    }

    @Test("keeps an item whose text was left empty")
    func keepsText() async throws {
        try await Scene.with(["Milk"]) { scene in
            try await scene.session.beginEdit(of: "Milk")
            try await scene.session.type("")
            try await scene.session.confirm()
            #expect(try scene.file.read()?.items == ["Milk"])
            await #expect(throws: (any Error).self) { try await scene.session.beginEdit(of: "Nuts") }
            #expect(await scene.session.current == .view(["Milk"]))
        }
    }
}
