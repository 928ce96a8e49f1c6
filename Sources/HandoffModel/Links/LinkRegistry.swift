/// Keeps one link between two peers when both dialled at once, or when a new link meets one that may be dead.
///
/// Opposite directions: the link dialled by the lower pair stays, after it has shown that it is alive. Same direction:
/// the newer replaces the older, because its dialler would not have dialled beside a link that works.
public struct LinkRegistry<LinkID: Hashable & Sendable>: Sendable {
    /// What to do with a link that just became paired.
    public enum Decision: Hashable, Sendable {
        /// It is the only one.
        case keep
        /// It stays; end the other one as a duplicate.
        case replace(LinkID)
        /// The other one would stay, if it is alive: ask it, then call ``resolve(_:role:isProbedAlive:of:)``.
        case probe(LinkID)
        /// No room for another peer.
        case full
    }

    private struct Entry {
        let link: LinkID
        let role: LinkRole
    }

    private let ourselves: PeerID
    private let capacity: Int
    private var entries: [PeerID: Entry] = [:]

    /// Makes an empty registry.
    ///
    /// - Parameters:
    ///   - ourselves: Our own pair of ids.
    ///   - capacity: How many peers may be linked at once.
    public init(ourselves: PeerID, capacity: Int) {
        self.ourselves = ourselves
        self.capacity = capacity
    }

    /// Takes a link that became paired.
    public mutating func paired(_ link: LinkID, with peer: PeerID, role: LinkRole) -> Decision {
        guard let existing = entries[peer] else {
            guard entries.count < capacity else { return .full }
            entries[peer] = Entry(link: link, role: role)
            return .keep
        }
        if existing.role != role, stays(existing.role, with: peer) { return .probe(existing.link) }
        entries[peer] = Entry(link: link, role: role)
        return .replace(existing.link)
    }

    /// Takes the answer to a probe.
    ///
    /// - Returns: True where the newer link takes the place of the probed one.
    public mutating func resolve(_ newer: LinkID, role: LinkRole, isProbedAlive: Bool, of peer: PeerID) -> Bool {
        if isProbedAlive, entries[peer] != nil { return false }
        entries[peer] = Entry(link: newer, role: role)
        return true
    }

    /// Forgets a link that ended.
    ///
    /// - Returns: True where it was the peer's link, which is now gone.
    public mutating func ended(_ link: LinkID, of peer: PeerID) -> Bool {
        guard entries[peer]?.link == link else { return false }
        entries[peer] = nil
        return true
    }

    /// For how many more peers there is room.
    public var room: Int { capacity - entries.count }

    /// The link to a peer.
    public subscript(peer: PeerID) -> LinkID? { entries[peer]?.link }

    /// True where a link in this role is the one dialled by the lower pair.
    private func stays(_ role: LinkRole, with peer: PeerID) -> Bool {
        (role == .dialler) == (ourselves < peer)
    }
}
