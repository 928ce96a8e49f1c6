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
        guard !configuration.isVisitor, let changes = try? NetworkChanges() else { return }
        var networks = NetworkChanges.current
        while (try? await changes.next()) != nil, (try? await clock.sleep(for: Self.settlingTime)) != nil {
            let now = NetworkChanges.current
            guard now != networks else { continue }
            networks = now
            guard !now.isEmpty, !isStopping else { continue }
            log(.info, "another network: announced under a new name")
            try? announce()
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
                schedule.lost(name)
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
        schedule.lost(name)
    }

    func found(_ service: DiscoveredService) {
        guard service.instanceName != announcedName else { return }
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
        services[service.instanceName] = announced
        guard announced.isOurs else { return schedule.lost(service.instanceName) }
        schedule.found(service.instanceName, at: clock.now)
        dialDue()
    }

    /// Dials every service whose time has come, and sets the alarm for the next.
    func dialDue() {
        let due = schedule.takeDue(at: clock.now)
        for name in due where !spawn({ await self.dial(name) }) {
            schedule.failed(name, with: .busy, at: clock.now, using: &generator)
        }
        guard let deadline = schedule.deadline else { return dialAlarm.cancel() }
        dialAlarm.set(at: deadline) { [weak self] in await self?.dialDue() }
    }

    private func dial(_ name: String) async {
        guard let announced = services[name] else { return }
        do {
            let connection = try await Dialler.dial(
                announced.service.addresses,
                applicationProtocol: Self.linkProtocol,
                context: context,
                discoveryKey: announced.discoveryKey,
                clock: clock
            )
            await serve(connection, role: .dialler, service: name)
        } catch is CancellationError {
            // The peer stops.
        } catch {
            dialFailed(name, with: PairingFailure(error))
        }
    }

    /// Notes a failed try and plans the next one.
    func dialFailed(_ name: String, with failure: PairingFailure) {
        schedule.failed(name, with: failure, at: clock.now, using: &generator)
        logRefusal(of: name, because: failure)
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
                    spawn { await self.serve(connection, role: .acceptor, service: nil) }
                }
            case .refused(let refusal):
                logRefusal(of: refusal.remoteAddress.host, because: PairingFailure(refusal.error))
            }
        }
    }
}
