import CommandLineKit
import Handoff

/// A session in a terminal: each line says what to do, and what is offered then is told.
struct ShoppingTerminal {
    private static let help = "`add ITEM`, `remove ITEM`, `edit ITEM` or `list`; Ctrl-D leaves."

    private enum Event {
        case line(String)
        case listChanged
    }

    private let input: InputLines
    private let file: JSONFile<ShoppingList>
    private let peer: HandoffPeer

    init(_ file: JSONFile<ShoppingList>, input: InputLines) throws {
        self.file = file
        self.input = input
        peer = try ShoppingPeer.make()
    }

    /// Looks at the list until the input ends.
    func view() async throws {
        let session = ShoppingSession(file, on: peer, showsList: true)
        try await peer.whileRunning {
            let changes = try file.changes()
            try await session.reload()
            try await Self.show(session.items)
            tell(await session.current)
            try await follow(session, changes) { false }
            await session.end()
        }
    }

    /// Edits one item, or enters a new one that begins with a text.
    func edit(_ item: String?, text: String = "") async throws {
        let session = ShoppingSession(file, on: peer, showsList: false)
        let isSaved = try await peer.whileRunning {
            if let item { try await session.beginEdit(of: item) } else { try await session.beginNew(text) }
            tell(await session.current)
            try await follow(session, try file.changes()) { await session.edit == nil }
            await session.end()
            return await session.hasSaved
        }
        guard isSaved else {
            throw CommandFailure(item.map { "“\($0)” stays as it is" } ?? "“\(text)” was not put on the list")
        }
    }

    static func show(_ items: [String]) throws {
        try StandardOutput.write(items.map { printable($0) + "\n" }.joined())
    }

    /// Does what the lines say until they end, a signal arrives or it is over; one thing at a time.
    private func follow(
        _ session: ShoppingSession,
        _ changes: AsyncStream<Void>,
        until isOver: @Sendable () async -> Bool
    ) async throws {
        let events = BoundedChannel<Event>(capacity: 1)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { for await _ in changes { try await events.send(.listChanged) } }
            group.addTask {
                while let line = try? await input.next() { try await events.send(.line(line)) }
                events.finish()
            }
            defer { group.cancelAll() }
            for try await event in events {
                let before = await session.current
                do {
                    switch event {
                    case .line(let line): try await obey(line, session)
                    case .listChanged: try await session.reload()
                    }
                } catch let failure as CommandFailure {
                    StandardError.write("shopping: \(printable(failure.message))\n")
                }
                if await isOver() { return }
                let now = await session.current
                if now != before { tell(now, after: before) }
            }
        }
    }

    private func obey(_ line: String, _ session: ShoppingSession) async throws {
        if await session.edit != nil {
            switch line {
            case "": try await session.confirm()
            case "cancel": try await session.cancel()
            default: try await session.type(line)
            }
            return
        }
        let words = line.split(separator: " ", maxSplits: 1).map(String.init)
        switch (words.first, words.dropFirst().first) {
        case ("add", let item?): try await session.add(item)
        case ("add", nil): try await session.beginNew()
        case ("remove", let item?): try await session.remove(item)
        case ("edit", let item?): try await session.beginEdit(of: item)
        case ("list", nil): try await Self.show(session.items)
        case (nil, _): break
        default: StandardError.write("Say \(Self.help)\n")
        }
    }

    /// Tells what is done now, and so is offered.
    private func tell(_ now: ShoppingActivity?, after before: ShoppingActivity? = nil) {
        let notice =
            switch (before, now) {
            case (_, nil): "The list is empty, and is not offered: put something on it with `add ITEM`."
            case (.view, .view(let items)): "The list has \(items.count) items now."
            case (_, .view): "The list is offered to your other machines. Say \(Self.help)"
            case (.edit, .edit(let text)): "It is “\(printable(text))” now."
            case (_, .edit("")): "Type the item; Enter alone puts it on the list, `cancel` or Ctrl-D does not."
            case (_, .edit(let text)):
                "Type the new text of “\(printable(text))”; Enter alone saves it, `cancel` or Ctrl-D does not."
            }
        StandardError.write(notice + "\n")
    }
}
