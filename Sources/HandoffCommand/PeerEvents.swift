/// What happened between two looks at the peers: one object for each event of `--json --watch`.
struct PeerEvents {
    /// One event.
    struct Event: Encodable {
        /// What happened.
        enum Kind: String, Encodable {
            case appeared, changed, disappeared
        }

        let event: Kind
        /// The peer as it is now; as it was last where it disappeared.
        let peer: PeerListing.Row
    }

    private var rows: [String: PeerListing.Row] = [:]

    /// Compares with the look before.
    ///
    /// - Returns: What happened since: first who disappeared, then the others in their order.
    mutating func next(_ listing: PeerListing) -> [Event] {
        let earlier = rows
        rows = listing.peers.reduce(into: [:]) { $0[$1.key] = $1 }
        let gone = earlier.values.filter { rows[$0.key] == nil }.sorted { $0.key < $1.key }
        return gone.map { Event(event: .disappeared, peer: $0) }
            + listing.peers.compactMap { row in
                guard let before = earlier[row.key] else { return Event(event: .appeared, peer: row) }
                return before.fingerprint == row.fingerprint ? nil : Event(event: .changed, peer: row)
            }
    }
}
