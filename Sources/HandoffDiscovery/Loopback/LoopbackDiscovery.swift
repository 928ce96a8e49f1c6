import HandoffSupport

/// Discovery between peers of one process, for tests: no daemon, no network, no delay.
public final class LoopbackDiscovery: Discovery {
    private struct State {
        var announcement: ServiceAnnouncement?
        var onCollision: @Sendable (ServiceAnnouncement) -> ServiceAnnouncement = { $0 }
        var member: LoopbackNetwork.MemberID?
    }

    /// What happened, for one consumer.
    public let events = DiscoveryEvents()
    private let network: LoopbackNetwork
    private let hostName: String
    private let octets: [UInt8]
    private let waiters = ServiceWaiters()
    private let state = LockedBox(State())

    /// Makes a discovery that does nothing before `run`.
    ///
    /// - Parameters:
    ///   - network: Where it announces and looks; those that share one find each other.
    ///   - hostName: What others are told as the host's name.
    ///   - octets: What others are told as its address; 4 or 16 bytes in network order.
    public init(network: LoopbackNetwork, hostName: String = "localhost", octets: [UInt8] = [127, 0, 0, 1]) {
        precondition(octets.count == 4 || octets.count == 16, "an address has 4 or 16 bytes")
        self.network = network
        self.hostName = hostName
        self.octets = octets
    }

    /// Is on the network until the task is cancelled.
    ///
    /// - Throws: Nothing; ``Discovery`` has it so for others.
    public func run() async throws {
        let member = LoopbackNetwork.Member(hostName: hostName, octets: octets, events: events, waiters: waiters)
        let id = await network.join(member)
        state.withLock { $0.member = id }
        publish()
        // Nothing is ever sent here: it ends when the task is cancelled.
        _ = try? await BoundedChannel<Void>(capacity: 1).next()
        state.withLock { $0.member = nil }
        await network.leave(id)
        events.finish()
        waiters.refuse(.ended)
    }

    /// Announces a service in place of the one announced before, now or when `run` begins.
    ///
    /// - Throws: ``DiscoveryError`` with the code `invalidAnnouncement`.
    public func announce(
        _ announcement: ServiceAnnouncement,
        onCollision: @escaping @Sendable (ServiceAnnouncement) -> ServiceAnnouncement
    ) throws(DiscoveryError) {
        try announcement.validate()
        state.withLock { state in
            state.announcement = announcement
            state.onCollision = onCollision
        }
        publish()
    }

    /// Takes the announcement back.
    public func withdraw() {
        let member = state.withLock { state in
            state.announcement = nil
            return state.member
        }
        if let member { network.withdraw(member) }
    }

    /// Waits for a service to be there.
    ///
    /// - Throws: ``DiscoveryError`` with the code `timedOut`; `CancellationError`.
    public func resolve(_ instanceName: String, within limit: Duration) async throws -> DiscoveredService {
        let (network, waiters) = (network, waiters)
        return try await withDeadline(limit, clock: .system, timeoutError: DiscoveryError.notFound(instanceName)) {
            try await waiters.wait(
                for: instanceName,
                ask: { network.want(instanceName, waiters: waiters) },
                forget: {}
            )
        }
    }

    private func publish() {
        let (announcement, onCollision, member) = state.withLock { ($0.announcement, $0.onCollision, $0.member) }
        guard let announcement, let member else { return }
        network.publish(announcement, onCollision: onCollision, for: member)
    }
}
