/// The connections that have not proved yet that they are of the account, the oldest first.
struct StrangerTable {
    /// How many there may be.
    let capacity: Int
    /// How many there may be now.
    private var limit: Int
    private var strangers: [(id: UInt64, host: [UInt8])] = []

    /// Makes an empty table.
    init(capacity: Int) {
        self.capacity = capacity
        limit = capacity
    }

    /// How many strangers there are.
    var count: Int { strangers.count }

    /// Adds a stranger.
    ///
    /// - Parameters:
    ///   - id: The connection's number.
    ///   - host: The address it comes from, in octets.
    /// - Returns: Who has to go for it, the oldest from the address that has the most; nil where there is room.
    mutating func admit(_ id: UInt64, from host: [UInt8]) -> UInt64? {
        strangers.append((id, host))
        return strangers.count > limit ? evict() : nil
    }

    /// Makes room before it is full, and keeps no more than there are now until all have gone.
    ///
    /// - Returns: Who has to go; nil where nobody is there.
    mutating func tighten() -> UInt64? {
        guard !strangers.isEmpty else { return nil }
        limit = strangers.count
        return evict()
    }

    /// Takes out the oldest from the address that has the most.
    private mutating func evict() -> UInt64? {
        let counts = Dictionary(strangers.map { ($0.host, 1) }, uniquingKeysWith: +)
        let most = counts.values.max()
        guard let index = strangers.firstIndex(where: { counts[$0.host] == most }) else { return nil }
        return strangers.remove(at: index).id
    }

    /// Forgets a connection that has proved itself, or ended.
    mutating func remove(_ id: UInt64) {
        strangers.removeAll { $0.id == id }
        if strangers.isEmpty { limit = capacity }
    }
}
