public import FoundationEssentials
public import HandoffSupport

/// Where paired machines were reached last, so that they can be dialled where nothing announces them.
///
/// Hints, as announcements are: who answers there proves itself by TLS. Pure: the time is passed in.
public struct KnownPeers: Hashable, Sendable {
    /// One peer's port on one machine.
    public struct Place: Hashable, Sendable, Codable {
        /// The machine id out of its certificate.
        public let machine: UUID
        /// The TCP port that it listened on.
        public let port: UInt16
        /// The machine's addresses with their zones, the one of the last link first.
        public fileprivate(set) var addresses: [String]
        /// The hour of the last link.
        public fileprivate(set) var linked: Date

        /// The addresses that this host could dial now: a zone may name an interface that is gone.
        public var socketAddresses: [SocketAddress] {
            addresses.compactMap { SocketAddress(numeric: $0, port: port) }
        }
    }

    /// How many places are kept; the ones that were linked longest ago go.
    public static let maximumCount = 64
    /// How many addresses are kept of each.
    public static let maximumAddresses = 4
    /// After so many days without a link a place is forgotten.
    public static let maximumAge: TimeInterval = 30 * 24 * 3600

    /// The places, those that were linked last first.
    public private(set) var places: [Place] = []

    /// Knows nobody yet.
    public init() {}

    /// Takes what was kept.
    ///
    /// - Parameters:
    ///   - places: Places of an earlier run.
    ///   - date: The time; no link was later.
    public init(_ places: [Place], at date: Date) {
        self.places = places.filter { $0.port > 0 && !$0.addresses.isEmpty }
        for index in self.places.indices { self.places[index].linked = min(self.places[index].linked, date) }
        settle(at: date)
    }

    /// The place of a peer; nil where it is not known.
    public subscript(machine: UUID, port: UInt16) -> Place? {
        places.first { $0.machine == machine && $0.port == port }
    }

    /// A link to a machine stands: whoever was known at these addresses is there no more.
    ///
    /// - Parameters:
    ///   - machine: The machine.
    ///   - addresses: Where its peer listens, the address of the link first; all with one port.
    ///   - date: The time.
    public mutating func linked(_ machine: UUID, at addresses: [SocketAddress], on date: Date) {
        guard let port = addresses.first?.port else { return }
        for address in addresses { forget(address) }
        var hosts: [String] = []
        let earlier = places.first { $0.machine == machine && $0.port == port }?.addresses ?? []
        for host in addresses.map(\.host) + earlier where !hosts.contains(host) { hosts.append(host) }
        places.removeAll { $0.machine == machine && $0.port == port }
        // Whole hours: the file is not to be written at each link.
        let hour = Date(timeIntervalSince1970: (date.timeIntervalSince1970 / 3600).rounded(.down) * 3600)
        places.append(Place(machine: machine, port: port, addresses: hosts, linked: hour))
        settle(at: date)
    }

    /// Nobody is to be looked for at an address.
    public mutating func forget(_ address: SocketAddress) {
        for index in places.indices where places[index].port == address.port {
            places[index].addresses.removeAll { $0 == address.host }
        }
        places.removeAll(where: \.addresses.isEmpty)
    }

    private mutating func settle(at date: Date) {
        for index in places.indices {
            places[index].addresses = Array(places[index].addresses.prefix(Self.maximumAddresses))
        }
        places.removeAll { date.timeIntervalSince($0.linked) > Self.maximumAge }
        // Total, so that the same places are always the same value.
        places.sort { left, right in
            left.linked != right.linked
                ? left.linked > right.linked : (left.machine, left.port) < (right.machine, right.port)
        }
        places = Array(places.prefix(Self.maximumCount))
    }
}
