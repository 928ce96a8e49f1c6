import FoundationEssentials
import HandoffDiscovery
import HandoffModel
import HandoffSupport
import HandoffTransport

extension HandoffPeer: LinkOwner {
    /// A new link of a pair that has one must wait this long for the old one to show that it is alive.
    private static let probeLimit = Duration.seconds(1)
    /// The link that stays, where the other end has closed one as a duplicate, is paired here by then.
    static let successionLimit = Duration.seconds(1)

    /// Runs one link from the end of its handshake to its own.
    func serve(_ connection: Connection, role: LinkRole, target: DialTarget?) async {
        let policy = LinkPolicy(ourselves: id, teamID: identity.teamID, hello: hello)
        let link = Link(connection: connection, role: role, policy: policy, clock: clock, owner: self)
        links[link.id] = LinkEntry(link: link, target: target)
        if target != nil { dialDue() }  // the next one's turn
        // It may have been revoked since its handshake.
        if isRevoked(connection.peer) { spawn { await link.close(.refused(.revoked)) } }
        let end = await link.run()
        ended(link, end)
    }

    var hello: Hello {
        Hello(
            versions: HandoffConfiguration.versions,
            instance: id.instance,
            app: configuration.app,
            name: configuration.name,
            host: configuration.host,
            isVisitor: configuration.isVisitor,
            types: configuration.types,
            service: announcedName,
            port: port,
            holdsKey: membership.holdsKey,
            revocations: latestRevocations
        )
    }

    func link(_ link: Link, mayGreet peer: RemotePeer) -> Bool {
        let isOther = links.values.contains {
            $0.link.id != link.id && $0.link.role == .dialler && $0.prospect == peer.id
        }
        guard isOther else {
            links[link.id]?.prospect = peer.id
            return true
        }
        // Two targets led to one peer: the earlier link stays.
        if let target = links[link.id]?.target { schedule.linked(target, to: peer.id) }
        return false
    }

    func link(_ link: Link, paired peer: RemotePeer) async {
        guard var entry = links[link.id] else { return }
        entry.peer = peer
        let address = link.connection.remoteAddress
        entry.listening =
            link.role == .dialler ? address : peer.hello.port.map { SocketAddress(address, port: $0) }
        links[link.id] = entry
        if peer.hello.isVisitor {
            let visitors = links.values.count { $0.peer?.hello.isVisitor == true }
            guard visitors <= HandoffConfiguration.maximumVisitors else { return await link.close(.busy) }
        } else {
            guard await admit(link, of: peer) else { return }
            noteLinked(entry, to: peer)
            log(.info, "paired", ["peer": "\(peer.id)", "peer.app": peer.hello.app])
        }
        await link.setOffers(currentOffers, revision: offersRevision)
        rememberMachine(of: peer, over: link)
        await tellStatements(over: link)
        await receive(peer.hello.revocations, keys: [], from: peer)
        renewIfDue()
        changed()
    }

    func link(_ link: Link, received message: Message) async {
        guard let peer = links[link.id]?.peer else { return }
        switch message {
        case .offers(let list):
            guard !peer.hello.isVisitor else { return }
            links[link.id]?.offers = list
            links[link.id]?.hasToldOffers = true
            changed()
        case .fetch(let request, let activity):
            let isTaken = spawn { await link.serve { await self.answer(request, activity: activity, to: peer) } }
            if !isTaken { await link.serve { [tooBusy] in .failure(request: request, tooBusy) } }
        case .send(let request, let offer):
            let isTaken = spawn { await self.receive(offer, request: request, from: peer, over: link) }
            if !isTaken { await link.serve { [tooBusy] in .decline(request: request, tooBusy) } }
        case .openStream(let request, let source):
            let isTaken = spawn {
                await link.serve { await self.answer(request, stream: source, to: peer, over: link.connection) }
            }
            if !isTaken { await link.serve { [tooBusy] in .failure(request: request, tooBusy) } }
        case .renew(let request, let csr):
            let isTaken = spawn {
                await link.serve { await self.answer(request, renewal: csr, of: link.connection.peer) }
            }
            if !isTaken { await link.serve { [tooBusy] in .failure(request: request, tooBusy) } }
        case .revocations(let revocations, let keys): await receive(revocations, keys: keys, from: peer)
        case .continued(let activity): continued(activity, at: peer.id)
        case .failed(let activity, let error): failed(activity, at: peer.id, with: error)
        case .update(let activity): originChanged(activity, at: peer.id)
        default:
            break
        }
    }

    private var tooBusy: HandoffError {
        isStopping ? HandoffError(.handoffFailed, "the peer is leaving") : HandoffError(.refused, "too busy")
    }

    /// What leads to a linked peer need not be dialled, and is remembered.
    private func noteLinked(_ entry: LinkEntry, to peer: RemotePeer) {
        if let target = entry.target { schedule.linked(target, to: peer.id) }
        if let service = peer.hello.service, isAnnounced(service, from: entry.link.connection) {
            schedule.linked(.service(service), to: peer.id)
        }
        rememberAddress(of: peer, over: entry)
    }

    /// True where a peer's word on its announced name fits the address it came from: it only saves a dial.
    private func isAnnounced(_ service: String, from connection: Connection) -> Bool {
        guard let announced = services[service], announced.isOurs else { return false }
        return announced.service.addresses.contains { $0.octets == connection.remoteAddress.octets }
    }

    /// Decides between a new link and an older one to the same peer.
    ///
    /// - Returns: False where there is no room for the peer.
    private func admit(_ link: Link, of peer: RemotePeer) async -> Bool {
        switch registry.paired(link.id, with: peer.id, role: link.role) {
        case .keep: break
        case .replace(let older):
            // Until the new link's first offers are there, those of the old one stand: the peer is the same.
            let offers = links[older]?.offers ?? []
            links[link.id]?.offers = offers
            closeDuplicate(older)
        case .probe(let older): probe(older, before: link, of: peer)
        case .full:
            await link.close(.busy)
            return false
        }
        return true
    }

    private func closeDuplicate(_ id: UUID) {
        guard let link = links[id]?.link else { return }
        spawn { await link.closeWhenIdle(.duplicate) }
    }

    private func probe(_ older: UUID, before newer: Link, of peer: RemotePeer) {
        guard let link = links[older]?.link else { return }
        spawn {
            let isAlive = await link.isAlive(within: Self.probeLimit)
            await self.probed(isAlive: isAlive, before: newer, of: peer)
        }
    }

    private func probed(isAlive: Bool, before newer: Link, of peer: RemotePeer) async {
        guard let entry = links[newer.id] else { return }
        let standing = registry[peer.id]
        guard registry.resolve(newer.id, role: newer.role, isProbedAlive: isAlive, of: peer.id) else {
            return await newer.closeWhenIdle(.duplicate)
        }
        noteLinked(entry, to: peer)
        changed()
        if let standing { await links[standing]?.link.closeWhenIdle(.duplicate) }
    }

    /// Waits for the links that stay where others were just ended as duplicates, and for what is offered over them.
    func awaitSuccessors() async {
        guard let end = superseded.values.max(), end > clock.now else { return }
        _ = await wait(atMost: end - clock.now) { peer in
            peer.superseded.keys.allSatisfy { peer.registry[$0].flatMap { peer.links[$0] }?.hasToldOffers == true }
        }
        superseded = [:]
    }

    private func ended(_ link: Link, _ end: LinkEnd) {
        guard let entry = links.removeValue(forKey: link.id) else { return }
        defer { changed() }
        if case .refused(.ourselves)? = end.reason, entry.target != nil { forget(link.connection.remoteAddress) }
        guard let peer = entry.peer else {
            if let target = entry.target { dialFailed(target, with: end.failure) }
            // What else leads to the peer has waited for this link.
            if let prospect = entry.prospect, registry[prospect] == nil {
                schedule.ended(prospect, at: clock.now, using: &generator)
                dialDue()
            }
            if entry.target == nil, end.reason != .duplicate {
                logRefusal(of: link.connection.remoteAddress.host, because: end.failure)
            }
            return
        }
        guard registry.ended(link.id, of: peer.id) else {
            // A link for which there was no room; where another one stands, the schedule knows.
            guard registry[peer.id] == nil else { return }
            schedule.ended(peer.id, at: clock.now, using: &generator)
            if let target = entry.target { dialFailed(target, with: end.failure) }
            return
        }
        rememberMachine(of: peer, over: link)
        log(.info, "link ended", ["peer": "\(peer.id)", "reason": end.failure.rawValue])
        if case .bye(.duplicate) = end {
            superseded = superseded.filter { $0.value > clock.now }
            superseded[peer.id] = clock.now + Self.successionLimit
            // What is being sent goes on over the link that stays.
            spawn {
                let isSucceeded = await self.wait(atMost: Self.successionLimit) { $0.registry[peer.id] != nil }
                if !isSucceeded { await self.failSends(to: peer.id) }
            }
        } else {
            failSends(to: peer.id)
        }
        schedule.ended(peer.id, at: clock.now, using: &generator)
        dialDue()
    }
}

extension LinkEnd {
    /// What was said at the end; nil where nothing was.
    var reason: ByeReason? {
        switch self {
        case .bye(let reason), .ended(let reason): reason
        case .lost: nil
        }
    }

    /// The end of a link as the reason why its peers are not paired.
    var failure: PairingFailure {
        switch self {
        case .bye(.refused(let failure)), .ended(.refused(let failure)), .lost(let failure): failure
        case .bye(let reason), .ended(let reason): PairingFailure(reason)
        }
    }
}
