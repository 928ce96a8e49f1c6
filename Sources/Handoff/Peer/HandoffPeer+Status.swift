import HandoffDiscovery
import HandoffModel
import HandoffSupport
import HandoffTransport

extension HandoffPeer {
    /// Everybody that is announced or linked, in the order of their names.
    public func peers() async -> [PeerStatus] {
        var statuses: [PeerStatus] = []
        var told: Set<PeerID> = []
        let nearness = await ranking().reduce(into: [:]) { $0[$1.sample.peer] = $1 }
        for (name, announced) in services.sorted(by: { $0.key < $1.key }) {
            var linked: (peer: RemotePeer, link: Link)?
            if case .linked(let id) = schedule.state(of: .service(name)) {
                linked = linkedPeers().first { $0.peer.id == id }
                told.insert(id)
            }
            statuses.append(status(of: announced, name: name, linked: linked, nearness))
        }
        for linked in linkedPeers() where !told.contains(linked.peer.id) {
            statuses.append(status(of: nil, name: nil, linked: linked, nearness))
        }
        return statuses + placeStatuses()
    }

    /// True when the first look around is over and every peer of ours has told its offers or has failed once.
    public var isSettled: Bool {
        (isDiscoverySettled || discoveryProblem != nil) && isRecalled && schedule.targets.allSatisfy { isSettled($0) }
    }

    private func status(
        of announced: AnnouncedService?,
        name: String?,
        linked: (peer: RemotePeer, link: Link)?,
        _ nearness: [PeerID: RankedPeer]
    ) -> PeerStatus {
        let failure = name.flatMap { schedule.failure(of: .service($0)) }
        return PeerStatus(
            id: linked?.peer.id,
            hello: linked?.peer.hello,
            service: name,
            place: nil,
            announcedHost: announced?.service.hostName,
            addresses: announced?.service.addresses ?? linked.map { [address(of: $0.link)] } ?? [],
            account: announced?.account ?? .match,
            team: announced?.team ?? .match,
            pairing: linked != nil ? .paired : announced?.isOurs == false ? .refused : failure?.pairing ?? .pending,
            reason: linked != nil ? nil : announced.flatMap { Self.mismatch($0) } ?? failure,
            offers: linked.flatMap { links[$0.link.id]?.offers } ?? [],
            nearness: linked.flatMap { nearness[$0.peer.id] }
        )
    }

    /// Where the other end of a link listens, or at least is.
    private func address(of link: Link) -> SocketAddress {
        links[link.id]?.listening ?? link.connection.remoteAddress
    }

    /// What the announcement alone says against pairing.
    private static func mismatch(_ announced: AnnouncedService) -> PairingFailure? {
        announced.account != .match ? .otherAccount : announced.team != .match ? .otherTeam : nil
    }
}
