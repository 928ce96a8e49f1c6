import HandoffDiscovery
import HandoffModel
import HandoffSupport
import HandoffTransport

extension HandoffPeer {
    /// The ALPN name of the link protocol.
    static let linkProtocol = "handoff/1"

    /// How many services are kept that are not of this account and team.
    static let largestStrangerCount = 256

    /// Announces the peer under a fresh name and salt, which tell nothing of app, user or machine.
    ///
    /// - Throws: `DiscoveryError` with the code `invalidAnnouncement`.
    func announce() throws {
        guard let port else { return }
        var generator = SystemRandomNumberGenerator()
        let salt = DiscoverySalt.make(using: &generator)
        let record = tags.record(
            versions: HandoffConfiguration.versions,
            salt: salt,
            key: context.identity.discoveryKey
        )
        let announcement = ServiceAnnouncement(
            instanceName: InstanceName.make(using: &generator),
            port: port,
            text: record.strings
        )
        try discovery.announce(announcement) { collided in
            var generator = SystemRandomNumberGenerator()
            return ServiceAnnouncement(
                instanceName: InstanceName.make(using: &generator),
                port: collided.port,
                text: collided.text
            )
        }
    }

    /// Addresses come one by one on a new network; a name is drawn once for all of them.
    private static let settlingTime = Duration.seconds(1)

    /// Draws a new name and salt each time that the machine comes to another network, so that nobody who sees both knows
    /// it again.
    func followNetworks() async {
        guard !configuration.isVisitor else { return }
        let changes: NetworkChanges
        do {
            changes = try NetworkChanges()
        } catch {
            return log(.warning, "on another network the name stays the same: \(error)")
        }
        var networks = NetworkChanges.current
        while (try? await changes.next()) != nil, (try? await clock.sleep(for: Self.settlingTime)) != nil {
            let now = NetworkChanges.current
            guard now != networks else { continue }
            networks = now
            guard !now.isEmpty, !isStopping else { continue }
            log(.info, "another network: announced under a new name")
            try? announce()
            retryAddresses()
        }
    }

    /// Takes what discovery tells, until it ends.
    func followDiscovery() async throws {
        for try await event in discovery.events {
            switch event {
            case .found(let service): found(service)
            case .lost(let name):
                if ownService?.instanceName == name { ownService = nil }
                forget(name)
            case .announced(let name):
                announcedName = name
                // It may have been found before we knew that it is ours.
                ownService = services[name]?.service ?? ownService
                forget(name)
                log(.info, "announced", ["service": name])
            case .settled: isDiscoverySettled = true
            case .unavailable(let error):
                discoveryProblem = error
                announcedName = nil
                log(.warning, "peers cannot be found: \(error)")
            case .available:
                if discoveryProblem != nil { log(.info, "peers can be found again") }
                discoveryProblem = nil
            }
            changed()
        }
    }

    private func forget(_ name: String) {
        services[name] = nil
        schedule.lost(.service(name))
    }

    func found(_ service: DiscoveredService) {
        guard service.instanceName != announcedName else {
            ownService = service
            return
        }
        let record: AnnouncementRecord
        do {
            record = try AnnouncementRecord(strings: service.text)
        } catch {
            log(.debug, "not a peer: \(error)", ["service": service.instanceName])
            return forget(service.instanceName)
        }
        let keys = membership.discoveryKeys()
        let match = tags.match(record, keys: keys)
        let announced = AnnouncedService(
            service: service,
            account: match.account ? .match : .other,
            // The team's tag is keyed with the account's secret: another account's team cannot be told.
            team: match.account ? (match.team ? .match : .other) : .unknown,
            discoveryKey: match.keyIndex.map { keys[$0] }
        )
        guard announced.isOurs else { return foundStranger(announced) }
        services[service.instanceName] = announced
        let evicted = schedule.found(.service(service.instanceName), salt: record.salt, at: clock.now)
        if case .service(let name)? = evicted {
            services[name] = nil
            log(.debug, "more services than are kept", ["service": name])
        }
        dialDue()
    }

    /// Keeps what is not ours for people who look, as far as there is room: anybody can make up any number.
    private func foundStranger(_ stranger: AnnouncedService) {
        let name = stranger.service.instanceName
        forget(name)
        guard services.values.count(where: { !$0.isOurs }) < Self.largestStrangerCount else { return }
        services[name] = stranger
    }

    /// For how many more links there is room, those counted that were dialled and are not paired yet.
    private var room: Int {
        registry.room - links.values.count { $0.peer == nil && $0.target != nil }
    }

    /// Dials every target whose time has come, and sets the alarm for the next.
    func dialDue() {
        var places: [String: [NetworkPlace]] = [:]
        for target in schedule.takeDue(at: clock.now, room: room) {
            var isTaken = true
            switch target {
            case .service(let name):
                isTaken = spawn { await self.dialService(name) }
            case .known(let machine, let port):
                isTaken = spawn { await self.dialKnown(machine: machine, port: port) }
            case .place(let place): places[place.host, default: []].append(place)
            }
            if !isTaken { schedule.failed(target, with: .busy, at: clock.now, using: &generator) }
        }
        for ports in places.values where !spawn({ await self.dial(ports) }) {
            for place in ports { schedule.failed(.place(place), with: .busy, at: clock.now, using: &generator) }
        }
        guard let deadline = schedule.deadline(room: room) else { return dialAlarm.cancel() }
        dialAlarm.set(at: deadline) { [weak self] in await self?.dialDue() }
    }

    private func dialService(_ name: String) async {
        let announced = services[name]
        let keys = [announced?.discoveryKey].compactMap(\.self)
        await dial(.service(name), at: announced?.service.addresses ?? [], keys: keys)
    }

    /// Dials a target, unless its peer is linked already, and serves the link to its end.
    ///
    /// - Parameters:
    ///   - target: What is dialled.
    ///   - addresses: Where it is.
    ///   - keys: The discovery keys it may have, the likeliest first; a machine that was off may have an older one.
    func dial(_ target: DialTarget, at addresses: [SocketAddress], keys: [[UInt8]]) async {
        // One that is there no more leads nowhere.
        guard schedule.state(of: target) != nil else { return dialFailed(target, with: .unreachable) }
        if let peer = linkedPeer(at: addresses) {
            schedule.dialEnded(target)
            schedule.linked(target, to: peer)
            dialDue()
            return changed()
        }
        var failure = PairingFailure.unreachable
        for key in keys {
            do {
                let connection = try await Dialler.dial(
                    addresses,
                    applicationProtocol: Self.linkProtocol,
                    context: context,
                    discoveryKey: key,
                    clock: clock
                )
                schedule.dialEnded(target)
                return await serve(connection, role: .dialler, target: target)
            } catch is CancellationError {
                return  // the peer stops
            } catch {
                failure = PairingFailure(error)
                // Only who has another key says so.
                guard failure == .notOfThisAccount else { break }
            }
        }
        dialFailed(target, with: failure)
    }

    /// Notes a failed try and plans the next one.
    func dialFailed(_ target: DialTarget, with failure: PairingFailure) {
        if schedule.state(of: target) != nil { logRefusal(of: "\(target)", because: failure) }
        schedule.failed(target, with: failure, at: clock.now, using: &generator)
        dialDue()
        changed()
    }

    /// Takes connections until the listener ends.
    func accept(from listener: Listener) async throws {
        for try await event in listener.events {
            switch event {
            case .connection(let connection):
                if connection.applicationProtocol == Self.streamProtocol {
                    spawn { await self.serveStream(on: connection) }
                } else {
                    spawn { await self.serve(connection, role: .acceptor, target: nil) }
                }
            case .refused(let refusal):
                logRefusal(of: refusal.remoteAddress.host, because: PairingFailure(refusal.error))
            }
        }
    }
}
