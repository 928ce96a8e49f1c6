import FoundationEssentials
public import HandoffModel
import HandoffSupport

/// A peer's offer that could be continued here.
public struct Candidate: Sendable, Hashable {
    /// Who offers.
    public let peer: RemotePeer
    /// What is offered.
    public let offer: Offer
    /// What is known of the peer's nearness, and why it has its place; nil where it was not ranked.
    public let nearness: RankedPeer?
    /// True where no app here takes the activity, and only its web page is of use.
    public let isWebpage: Bool

    /// The round-trip time to the peer; nil where none was measured.
    public var latency: Duration? { nearness?.sample.latency?.value }

    init(peer: RemotePeer, offer: Offer, nearness: RankedPeer? = nil, isWebpage: Bool = false) {
        self.peer = peer
        self.offer = offer
        self.nearness = nearness
        self.isWebpage = isWebpage
    }
}

/// A peer's offer that this app cannot continue.
public struct Obstacle: Sendable {
    /// Who offers.
    public let peer: RemotePeer
    /// What is offered.
    public let offer: Offer
    /// Why it cannot be continued here, and what to do.
    public let error: HandoffError
}

/// What could be continued here, in which order, and what could not.
extension HandoffPeer {
    /// A candidate that was heard of so recently need not be pinged before it is chosen.
    private static let freshness = Duration.seconds(2)
    /// How long a candidate may take to answer that ping.
    private static let livenessLimit = Duration.milliseconds(300)

    /// The offers that can be continued here, nearest first.
    ///
    /// - Parameter includesWebpages: Whether what no app here takes counts, too, where it has a web page.
    public func candidates(includingWebpages includesWebpages: Bool = false) async -> [Candidate] {
        var found: [PeerID: (peer: RemotePeer, offer: Offer, isWebpage: Bool)] = [:]
        var samples: [ProximitySample] = []
        for entry in linkedPeers() {
            let offers = links[entry.link.id]?.offers ?? []
            let usable = offers.first { obstacle(to: $0) == nil }
            guard let offer = usable ?? (includesWebpages ? offers.first(where: \.hasWebpage) : nil) else { continue }
            found[entry.peer.id] = (entry.peer, offer, usable == nil)
            samples.append(await sample(of: entry.peer.id, over: entry.link))
        }
        return nearest.settle(Ranking.order(samples), at: clock.now).compactMap { ranked in
            found[ranked.sample.peer].map {
                Candidate(peer: $0.peer, offer: $0.offer, nearness: ranked, isWebpage: $0.isWebpage)
            }
        }
    }

    /// The offers that this app cannot continue, and why, in the order of their peers.
    public func obstacles() -> [Obstacle] {
        linkedPeers().sorted { $0.peer.id < $1.peer.id }.flatMap { entry in
            (links[entry.link.id]?.offers ?? []).compactMap { offer in
                obstacle(to: offer).map { Obstacle(peer: entry.peer, offer: offer, error: $0) }
            }
        }
    }

    /// Why this app cannot continue what is offered; nil where it can.
    func obstacle(to offer: Offer) -> HandoffError? {
        guard configuration.types.contains(offer.type) else {
            return HandoffError(
                .refused,
                "\(configuration.name) does not continue activities of the type \(offer.type)"
            )
        }
        let ours = configuration.contentVersions[offer.type] ?? .first
        guard ours.canRead(offer.contentVersion) else {
            return HandoffError(
                .versionUnsupported,
                "the other app writes version \(offer.contentVersion) of \(offer.type), and this one reads up to \(ours): "
                    + "update \(configuration.name) on \(configuration.host)"
            )
        }
        return nil
    }

    /// The candidates that answer a ping or were heard of just now, then the others, each in their order.
    func livingFirst(_ candidates: [Candidate]) async -> [Candidate] {
        let links = candidates.map { link(to: $0.peer.id) }
        let living = await withTaskGroup(of: Int?.self) { group in
            for (index, link) in links.enumerated() {
                group.addTask {
                    let isAlive = await link?.isAlive(within: Self.livenessLimit, heardWithin: Self.freshness) ?? false
                    return isAlive ? index : nil
                }
            }
            return await group.reduce(into: Set<Int>()) { if let index = $1 { $0.insert(index) } }
        }
        let order = candidates.indices.filter(living.contains) + candidates.indices.filter { !living.contains($0) }
        guard let first = order.first, first > 0, let nearness = candidates[first].nearness else {
            return order.map { candidates[$0] }
        }
        let chosen = Candidate(
            peer: candidates[first].peer,
            offer: candidates[first].offer,
            nearness: RankedPeer(sample: nearness.sample, reason: .answers),
            isWebpage: candidates[first].isWebpage
        )
        return [chosen] + order.dropFirst().map { candidates[$0] }
    }

    /// The link to a peer.
    func link(to peer: PeerID) -> Link? {
        registry[peer].flatMap { links[$0]?.link }
    }

    /// The link to a peer or a visitor.
    func anyLink(to peer: PeerID) -> Link? {
        link(to: peer) ?? links.values.first { $0.peer?.id == peer && $0.peer?.hello.isVisitor == true }?.link
    }

    /// The paired peers that are no visitors, with the link that stands for each.
    func linkedPeers() -> [(peer: RemotePeer, link: Link)] {
        links.values.compactMap { entry in
            guard let peer = entry.peer, registry[peer.id] == entry.link.id, !isRevoked(entry.link.connection.peer)
            else { return nil }
            return (peer, entry.link)
        }
    }
}
