import HandoffDiscovery
import HandoffModel
import HandoffSupport
import HandoffTransport

extension HandoffPeer {
    /// The ALPN name of the link protocol.
    static let linkProtocol = "handoff/1"

    /// Announces the peer under a fresh name and salt, which tell nothing of app, user or machine.
    ///
    /// - Throws: `DiscoveryError` with the code `invalidAnnouncement`.
    func announce() throws {
        guard let port else { return }
        var generator = SystemRandomNumberGenerator()
        let salt = DiscoverySalt.make(using: &generator)
        let record = tags.record(versions: HandoffConfiguration.versions, salt: salt, key: identity.discoveryKey)
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
        guard !configuration.isVisitor, let changes = try? NetworkChanges() else { return }
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
            case .lost(let name): forget(name)
            case .announced(let name):
                announcedName = name
                // It may have been found before we knew that it is ours.
                forget(name)
                services[name] = nil  // it may have been seen before we knew that it is ours
                schedule.lost(.service(name))
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

    private func found(_ service: DiscoveredService) {
        guard service.instanceName != announcedName else { return }
        let record: AnnouncementRecord
        do {
            record = try AnnouncementRecord(strings: service.text)
        } catch {
            log(.debug, "not a peer: \(error)", ["service": service.instanceName])
            return forget(service.instanceName)
        }
        let match = tags.match(record, keys: [identity.discoveryKey])
        let announced = AnnouncedService(
            service: service,
            account: match.account ? .match : .other,
            // The team's tag is keyed with the account's secret: another account's team cannot be told.
            team: match.account ? (match.team ? .match : .other) : .unknown
        )
        services[service.instanceName] = announced
        guard announced.isOurs else { return schedule.lost(.service(service.instanceName)) }
        schedule.found(.service(service.instanceName), at: clock.now)
        dialDue()
    }

    /// Dials every target whose time has come, and sets the alarm for the next.
    func dialDue() {
        var places: [String: [NetworkPlace]] = [:]
        for target in schedule.takeDue(at: clock.now) {
            var isTaken = true
            switch target {
            case .service(let name):
                isTaken = spawn { await self.dial(target, at: self.services[name]?.service.addresses ?? []) }
            case .known(let machine, let port):
                isTaken = spawn { await self.dialKnown(machine: machine, port: port) }
            case .place(let place): places[place.host, default: []].append(place)
            }
            if !isTaken { schedule.failed(target, with: .busy, at: clock.now, using: &generator) }
        }
        for ports in places.values where !spawn({ await self.dial(ports) }) {
            for place in ports { schedule.failed(.place(place), with: .busy, at: clock.now, using: &generator) }
        }
        guard let deadline = schedule.deadline else { return dialAlarm.cancel() }
        dialAlarm.set(at: deadline) { [weak self] in await self?.dialDue() }
    }

    /// Dials a target, unless its peer is linked already, and serves the link to its end.
    func dial(_ target: DialTarget, at addresses: [SocketAddress]) async {
        guard schedule.state(of: target) != nil else { return }
        if let peer = linkedPeer(at: addresses) {
            schedule.linked(target, to: peer)
            return changed()
        }
        do {
            let connection = try await Dialler.dial(
                addresses,
                applicationProtocol: Self.linkProtocol,
                context: context,
                clock: clock
            )
            await serve(connection, role: .dialler, target: target)
        } catch is CancellationError {
            // The peer stops.
        } catch {
            dialFailed(target, with: PairingFailure(error))
        }
    }

    /// Notes a failed try and plans the next one.
    func dialFailed(_ target: DialTarget, with failure: PairingFailure) {
        schedule.failed(target, with: failure, at: clock.now, using: &generator)
        logRefusal(of: "\(target)", because: failure)
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
