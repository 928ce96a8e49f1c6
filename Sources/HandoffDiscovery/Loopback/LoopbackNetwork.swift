import Dispatch
import HandoffSupport

/// What the loopback discoveries that find each other share.
///
/// All changes are made on one queue, so that every member is told of them in the same order.
public final class LoopbackNetwork: Sendable {
    struct MemberID: Hashable {
        let number: UInt64
    }

    struct Member {
        let hostName: String
        let octets: [UInt8]
        let events: DiscoveryEvents
        let waiters: ServiceWaiters
    }

    private struct State {
        var members: [MemberID: Member] = [:]
        var services: [String: (owner: MemberID, service: DiscoveredService)] = [:]
        var lastID: UInt64 = 0
    }

    private let state = LockedBox(State())
    private let queue = DispatchQueue(label: "handoff.loopback-network")

    /// Makes a network that nobody is on.
    public init() {}

    func join(_ member: Member) async -> MemberID {
        await onQueue { [self] in
            let (id, services) = state.withLock { state in
                state.lastID += 1
                let id = MemberID(number: state.lastID)
                state.members[id] = member
                return (id, state.services.values.map(\.service))
            }
            member.events.post(.available)
            for service in services { member.events.post(.found(service)) }
            member.events.post(.settled)
            return id
        }
    }

    func leave(_ id: MemberID) async {
        await onQueue { [self] in
            // First the member: whoever has left is told nothing more.
            _ = state.withLock { $0.members.removeValue(forKey: id) }
            removeService(of: id)
        }
    }

    func publish(
        _ announcement: ServiceAnnouncement,
        onCollision: @escaping @Sendable (ServiceAnnouncement) -> ServiceAnnouncement,
        for id: MemberID
    ) {
        queue.async { [self] in
            removeService(of: id)
            var announcement = announcement
            while state.withLock({ $0.services[announcement.instanceName] != nil }) {
                let taken = announcement.instanceName
                announcement = onCollision(announcement)
                // Nobody would ever let us have it; a real daemon would be asked again and again, slowly.
                guard announcement.instanceName != taken else { return }
            }
            guard let member = state.withLock({ $0.members[id] }), let service = member.service(announcement) else {
                return
            }
            state.withLock { $0.services[announcement.instanceName] = (id, service) }
            member.events.post(.announced(instanceName: announcement.instanceName))
            for other in state.withLock({ $0.members.values }) {
                other.events.post(.found(service))
                other.waiters.answer(service)
            }
        }
    }

    func withdraw(_ id: MemberID) {
        queue.async { [self] in removeService(of: id) }
    }

    /// Answers the member's waiters if the service is there; else they are answered when it comes.
    func want(_ instanceName: String, waiters: ServiceWaiters) {
        queue.async { [self] in
            if let found = state.withLock({ $0.services[instanceName] }) { waiters.answer(found.service) }
        }
    }

    private func removeService(of id: MemberID) {
        let (names, members) = state.withLock { state in
            let names = state.services.filter { $0.value.owner == id }.map(\.key)
            for name in names { state.services.removeValue(forKey: name) }
            return (names, Array(state.members.values))
        }
        for name in names {
            for member in members { member.events.post(.lost(instanceName: name)) }
        }
    }

    private func onQueue<Result: Sendable>(_ body: @escaping @Sendable () -> Result) async -> Result {
        await withCheckedContinuation { continuation in
            queue.async { continuation.resume(returning: body()) }
        }
    }
}

extension LoopbackNetwork.Member {
    fileprivate func service(_ announcement: ServiceAnnouncement) -> DiscoveredService? {
        guard let address = SocketAddress(octets: octets, port: announcement.port) else { return nil }
        return DiscoveredService(
            instanceName: announcement.instanceName,
            hostName: hostName,
            addresses: [address],
            text: announcement.text
        )
    }
}
