import FoundationEssentials
import HandoffDiscovery
public import HandoffModel
public import HandoffSupport
import HandoffTransport

/// Peers that no announcement leads to: places that somebody named, and the last known addresses of paired machines.
extension HandoffPeer {
    /// A first look around is held up so long by last known addresses, where many a machine is off.
    private static let recallLimit = Duration.milliseconds(500)

    // MARK: - Named places

    /// The ports of a host that are tried where none was named, each a target of its own: any may be a peer's.
    private static func targets(of place: NetworkPlace) -> [DialTarget] {
        place.places(ports: HandoffConfiguration.defaultPorts).map { .place($0) }
    }

    /// Looks for peers at places, links to all that are found there, and waits until that is done.
    ///
    /// - Parameters:
    ///   - places: Where to look.
    ///   - limit: The longest wait.
    /// - Returns: The places where no peer of ours was found, and why.
    public func reach(
        _ places: [NetworkPlace],
        atMost limit: Duration
    ) async -> [(place: NetworkPlace, failure: PairingFailure)] {
        let targets = places.flatMap { Self.targets(of: $0) }
        let new = targets.filter { schedule.state(of: $0) == nil }
        for target in targets where !isLinked(target) {
            // Anew: what was found out earlier is not asked for.
            schedule.lost(target)
            schedule.found(target, at: clock.now)
        }
        // They were asked for once; what was linked is known from now on.
        defer { for target in new { schedule.lost(target) } }
        dialDue()
        _ = await wait(atMost: limit) { peer in targets.allSatisfy { peer.isSettled($0) } }
        return unreached(places)
    }

    /// The places of some where no peer of ours has been found, and why.
    public func unreached(_ places: [NetworkPlace]) -> [(place: NetworkPlace, failure: PairingFailure)] {
        places.compactMap { place in
            let targets = Self.targets(of: place)
            guard !targets.contains(where: isLinked) else { return nil }
            let failures = targets.compactMap { schedule.failure(of: $0) }
            return (place, failures.max { $0.weight < $1.weight } ?? .timedOut)
        }
    }

    /// Begins to dial the places that the configuration names.
    func dialPlaces() {
        for target in configuration.places.flatMap({ Self.targets(of: $0) }) {
            schedule.found(target, at: clock.now)
        }
        dialDue()
    }

    /// What is told of the named places where nobody is linked.
    func placeStatuses() -> [PeerStatus] {
        unreached(configuration.places).map { place, failure in
            let isPending = !Self.targets(of: place).allSatisfy { isSettled($0) }
            return PeerStatus(place: place, pairing: isPending ? .pending : failure.pairing, reason: failure)
        }
    }

    /// Looks up a host once for all ports of it that are due, and dials each.
    func dial(_ places: [NetworkPlace]) async {
        guard let first = places.first else { return }
        let addresses = await first.addresses(ports: HandoffConfiguration.defaultPorts, clock: clock)
        for place in places {
            let target = DialTarget.place(place)
            let there = addresses.map { SocketAddress($0, port: place.port ?? $0.port) }
            if there.isEmpty {
                dialFailed(target, with: .unknownHost)
            } else if !spawn({ await self.dial(target, at: there, keys: self.membership.discoveryKeys()) }) {
                dialFailed(target, with: .busy)
            }
        }
    }

    // MARK: - Last known addresses

    /// Reads the last known addresses, and dials them where nothing else leads to their peers.
    func recallPeers() async {
        dialPlaces()
        guard let knownPeersFile else {
            isRecalled = true
            return changed()
        }
        known = await knownPeersFile.read(at: wallClock())
        // Most of them are found by an announcement, if that works.
        _ = await wait(atMost: Self.recallLimit * 3) { $0.isDiscoverySettled || $0.discoveryProblem != nil }
        followKnown()
        isRecalling = true
        isRecalled = true
        dialDue()
        try? await clock.sleep(for: Self.recallLimit)
        isRecalling = false
        changed()
    }

    /// Makes what is known the targets of that kind.
    private func followKnown() {
        let targets = known.places.map { DialTarget.known(machine: $0.machine, port: $0.port) }
        for case .known(let machine, let port) in schedule.targets where known[machine, port] == nil {
            schedule.lost(.known(machine: machine, port: port))
        }
        for target in targets where schedule.state(of: target) == nil {
            schedule.found(target, at: clock.now, pausingAtMost: target.longestPause)
        }
    }

    /// Gives every place and last known address a new chance: the machine is on another network.
    func retryAddresses() {
        for target in schedule.targets {
            if case .service = target { continue }
            schedule.found(target, at: clock.now, pausingAtMost: target.longestPause)
        }
        dialDue()
    }

    /// Dials a peer at its last known addresses, unless it is announced.
    func dialKnown(machine: UUID, port: UInt16) async {
        let target = DialTarget.known(machine: machine, port: port)
        guard let addresses = known[machine, port]?.socketAddresses, !addresses.isEmpty, !isAnnounced(at: addresses)
        else {
            schedule.failed(target, with: .unreachable, at: clock.now, using: &generator)
            dialDue()
            return changed()
        }
        await dial(target, at: addresses, keys: membership.discoveryKeys())
    }

    /// Keeps the address of a peer that was just linked.
    func rememberAddress(of peer: RemotePeer, over entry: LinkEntry) {
        guard let knownPeersFile, let listening = entry.listening else { return }
        let announced = peer.hello.service.flatMap { services[$0] }?.service.addresses ?? []
        let addresses =
            announced.contains(listening)
            ? [listening] + announced.filter { $0.port == listening.port && $0 != listening } : [listening]
        let (machine, date) = (peer.id.machine, wallClock())
        if case .known(let expected, _)? = entry.target, expected != machine, let target = entry.target {
            // Somebody else has the address now; the one that was meant may have another.
            schedule.lost(target)
        }
        known.linked(machine, at: addresses, on: date)
        followKnown()
        schedule.linked(.known(machine: machine, port: listening.port), to: peer.id)
        update(knownPeersFile) { $0.linked(machine, at: addresses, on: date) }
        dialDue()
    }

    /// This very process listens there now.
    func forget(_ address: SocketAddress) {
        guard let knownPeersFile else { return }
        known.forget(address)
        followKnown()
        update(knownPeersFile) { $0.forget(address) }
    }

    private func update(_ file: KnownPeersFile, _ change: @escaping @Sendable (inout KnownPeers) -> Void) {
        let date = wallClock()
        spawn {
            do {
                try await file.update(at: date, change)
            } catch {
                self.log(.info, "the addresses of peers could not be saved: \(error)")
            }
        }
    }

    // MARK: - What is linked already

    /// The peer that is linked and listens at one of these addresses.
    func linkedPeer(at addresses: [SocketAddress]) -> PeerID? {
        linkedPeers().first { entry in
            links[entry.link.id]?.listening.map { addresses.contains($0) } ?? false
        }?.peer.id
    }

    private func isAnnounced(at addresses: [SocketAddress]) -> Bool {
        services.values.contains { $0.isOurs && $0.service.addresses.contains(where: addresses.contains) }
    }

    private func isLinked(_ target: DialTarget) -> Bool {
        if case .linked = schedule.state(of: target) { true } else { false }
    }

    /// Whether a first look at a target is over: its peer has told its offers, or it has failed once.
    func isSettled(_ target: DialTarget) -> Bool {
        switch schedule.state(of: target) {
        case .linked(let id): return registry[id].flatMap { links[$0] }?.hasToldOffers ?? true
        case nil: return true
        case .dialling, .waiting:
            // One that fails again is tried again, but has been looked at.
            if schedule.failure(of: target) != nil { return true }
            guard case .known = target else { return false }
            return !isRecalling
        }
    }
}
