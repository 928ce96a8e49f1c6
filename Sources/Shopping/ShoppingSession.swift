import CommandLineKit
import Handoff

/// What somebody does with the list in one terminal, and the one activity that offers just that.
///
/// Its methods are called one after the other; only ``userActivityWillSave(_:)`` comes between, at any time.
actor ShoppingSession {
    /// An item whose text is being typed.
    struct Edit {
        /// The item on the list; nil for one that is not there yet.
        let item: String?
        var text: String
    }

    private let file: JSONFile<ShoppingList>
    private let peer: HandoffPeer
    private let showsList: Bool

    /// The list as it was read last.
    private(set) var items: [String] = []
    /// What is being edited; nil while nothing is.
    private(set) var edit: Edit?
    /// True when an edit has been confirmed.
    private(set) var hasSaved = false
    private var activity: UserActivity?

    /// Begins a session that offers nothing yet.
    ///
    /// - Parameter showsList: Whether the list is looked at while nothing is edited; false to edit one item only.
    init(_ file: JSONFile<ShoppingList>, on peer: HandoffPeer, showsList: Bool) {
        self.file = file
        self.peer = peer
        self.showsList = showsList
    }

    /// What is done now, and offered; nil for nothing.
    ///
    /// An empty list is no use to another machine.
    var current: ShoppingActivity? {
        if let edit { return .edit(edit.text) }
        return showsList && !items.isEmpty ? .view(items) : nil
    }

    /// Reads the list, at first and whenever it may have changed; one that cannot be read is not offered.
    func reload() async throws {
        let list = Result { try file.read() }
        items = (try? list.get())?.items ?? []
        try await offerCurrent()
        _ = try list.get()
    }

    func add(_ item: String) async throws {
        try change { _ = $0.merge([item]) }
        try await offerCurrent()
    }

    func remove(_ item: String) async throws {
        try change { try $0.remove(item) }
        try await offerCurrent()
    }

    /// Begins to edit an item; it stays on the list as it is until ``confirm()``.
    func beginEdit(of item: String) async throws {
        guard try file.read()?.items.contains(item) == true else { throw ShoppingList.missing(item) }
        try await begin(Edit(item: item, text: item))
    }

    /// Begins to edit an item that is not on the list.
    func beginNew(_ text: String = "") async throws {
        try await begin(Edit(item: nil, text: text))
    }

    /// Gives the edited item another text.
    func type(_ text: String) async throws {
        edit?.text = text
        try await offerCurrent()
    }

    /// Puts the edited item on the list, and returns to that.
    func confirm() async throws {
        guard let edit else { return }
        try change { list in
            if let item = edit.item, !edit.text.isEmpty {
                list.replace(item, with: edit.text)
            } else {
                _ = list.merge([edit.text])
            }
        }
        self.edit = nil
        hasSaved = true
        try await offerCurrent()
    }

    /// Leaves the list as it is, and returns to that.
    func cancel() async throws {
        edit = nil
        try await offerCurrent()
    }

    /// Leaves; nothing is offered any more.
    func end() async {
        let ended = activity
        activity = nil
        await ended?.invalidate()
    }

    private func begin(_ edit: Edit) async throws {
        self.edit = edit
        try await offerCurrent()
    }

    private func change(_ body: (inout ShoppingList) throws -> Void) throws {
        items = try file.update(from: ShoppingList()) { list in
            try body(&list)
            return list.items
        }
    }

    /// Makes an activity of what is done now; where that is still the same thing, its state is newer than what was saved.
    private func offerCurrent() async throws {
        guard activity?.type != current?.type else {
            activity?.needsSave = true
            return
        }
        await end()
        guard let current else { return }
        let next = try peer.makeActivity(type: current.type, title: current.title, delegate: self)
        activity = next
        await next.becomeCurrent()
    }
}

extension ShoppingSession: UserActivityDelegate {
    /// Puts the newest state into the activity that a peer takes.
    func userActivityWillSave(_ activity: UserActivity) throws {
        guard activity === self.activity, let current, current.type == activity.type else {
            throw HandoffError(.handoffFailed, "the user does something else now")
        }
        activity.addUserInfoEntries(current.userInfo)
    }

    /// Two live copies of a list do no harm.
    func userActivityWasContinued(_ activity: UserActivity) async {}
}
