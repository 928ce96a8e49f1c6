import FoundationEssentials

/// Who wants which note to be the current activity: the newest lease wins, and when it ends, the one before does again.
struct Leases: Sendable {
    /// What a lease lasts for.
    enum Holder: Hashable, Sendable {
        /// An editor: until its connection ends.
        case connection(UUID)
        /// `open`: until `close`, or the peer's end.
        case opened
    }

    private var leases: [(note: UUID, holder: Holder)] = []

    /// The note that is to be current.
    var current: UUID? { leases.last?.note }

    /// Whether somebody here works on a note.
    func contain(_ note: UUID) -> Bool { leases.contains { $0.note == note } }

    /// Whether an editor has a note open.
    func areEditing(_ note: UUID) -> Bool { leases.contains { $0.note == note && $0.holder != .opened } }

    /// Adds a lease; one of the same note and holder becomes the newest.
    mutating func add(_ note: UUID, by holder: Holder) {
        leases.removeAll { $0.note == note && $0.holder == holder }
        leases.append((note, holder))
    }

    /// Ends the leases of a connection.
    mutating func end(_ holder: Holder) {
        leases.removeAll { $0.holder == holder }
    }

    /// Ends what `open` began.
    ///
    /// - Parameter note: The note; nil for the one that was opened last.
    /// - Returns: False where it was not open.
    mutating func close(_ note: UUID?) -> Bool {
        let index = leases.lastIndex { $0.holder == .opened && (note == nil || $0.note == note) }
        guard let index else { return false }
        leases.remove(at: index)
        return true
    }

    /// Ends every lease of a note that is removed.
    mutating func remove(_ note: UUID) {
        leases.removeAll { $0.note == note }
    }
}
