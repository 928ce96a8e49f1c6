import FoundationEssentials
public import HandoffModel
import HandoffSupport

/// A peer's offer that could be continued here.
public struct Candidate: Sendable, Hashable {
    /// Who offers.
    public let peer: RemotePeer
    /// What is offered.
    public let offer: Offer
    /// The round-trip time to the peer; nil where none was measured.
    public let latency: Duration?
    /// True where no app here takes the activity, and only its web page is of use.
    public let isWebpage: Bool

    init(peer: RemotePeer, offer: Offer, latency: Duration?, isWebpage: Bool = false) {
        self.peer = peer
        self.offer = offer
        self.latency = latency
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
        var found: [PeerID: Candidate] = [:]
        var samples: [ProximitySample] = []
        for entry in linkedPeers() {
            let offers = links[entry.link.id]?.offers ?? []
            let usable = offers.first { obstacle(to: $0) == nil }
            guard let offer = usable ?? (includesWebpages ? offers.first(where: \.hasWebpage) : nil) else { continue }
            let (latency, isSuspect) = await entry.link.proximity
            let id = entry.peer.id
            found[id] = Candidate(peer: entry.peer, offer: offer, latency: latency, isWebpage: usable == nil)
            samples.append(
                ProximitySample(peer: id, latency: latency, isSuspect: isSuspect, lastUse: lastUse[id])
            )
        }
        return Ranking.order(samples).compactMap { found[$0.peer] }
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
        return order.map { candidates[$0] }
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
