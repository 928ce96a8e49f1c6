public import HandoffModel
public import HandoffSupport

/// What is known of one peer on the LAN, for people who look.
public struct PeerStatus: Sendable, Hashable {
    /// Whether something a peer announces is ours.
    public enum Match: String, Sendable, Codable {
        /// It is ours.
        case match
        /// It is somebody else's.
        case other
        /// It cannot be told.
        case unknown
    }

    /// Whether peers are paired, and if not, at which step it failed.
    public enum Pairing: String, Sendable, Codable {
        /// `hello` went both ways.
        case paired
        /// One of the two refused the other.
        case refused
        /// No connection.
        case unreachable
        /// Not yet known.
        case pending
    }

    /// Its pair of ids; nil for one that was never paired.
    public let id: PeerID?
    /// What it tells of itself; nil for one that is not paired.
    public let hello: Hello?
    /// The instance name it announces; nil where the link came from it and its announcement was not seen.
    public let service: String?
    /// The place that was named to look for it; nil for a peer that was found.
    public let place: NetworkPlace?
    /// The mDNS host name that it announces; it comes from the network and proves nothing.
    public let announcedHost: String?
    /// Where it can be reached.
    public let addresses: [SocketAddress]
    /// Whether it is of our account.
    public let account: Match
    /// Whether it is of our team.
    public let team: Match
    /// Whether it is paired.
    public let pairing: Pairing
    /// Why it is not.
    public let reason: PairingFailure?
    /// What it offers.
    public let offers: [Offer]
    /// What is known of its nearness, and its place among the paired peers; nil for one that is not paired.
    public let nearness: RankedPeer?

    /// The round-trip time; nil where none was measured.
    public var latency: Duration? { nearness?.sample.latency?.value }
}

extension PeerStatus {
    /// What is told of a place where no peer of ours was found.
    init(place: NetworkPlace, pairing: Pairing, reason: PairingFailure) {
        id = nil
        hello = nil
        service = nil
        self.place = place
        announcedHost = nil
        addresses = []
        account = .unknown
        team = .unknown
        self.pairing = pairing
        self.reason = pairing == .pending ? nil : reason
        offers = []
        nearness = nil
    }
}

extension PairingFailure {
    /// Where a failure stands between not being reached and being refused.
    var pairing: PeerStatus.Pairing {
        switch self {
        case .unreachable, .timedOut, .connectionLost, .unknownHost: .unreachable
        default: .refused
        }
    }
}
