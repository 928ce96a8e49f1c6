import CAvahi
import HandoffSupport

/// The announcement: what is wanted, and how far the daemon has come with it.
///
/// Each try has an entry group of its own, so that a late event of an earlier one cannot be taken for one of this.
struct AvahiPublication {
    private enum Phase {
        /// Nothing is wanted, or the daemon is not ready.
        case idle
        /// The name is being probed; measured 0.65 to 0.98 s.
        case registering(AvahiObjectID, until: Duration)
        case established(AvahiObjectID)
        case pausing(until: Duration)
        /// It will not do, and is not tried again.
        case refused
    }

    /// A daemon whose interface went away while it probed may never come to an end (Avahi 0.8).
    static let registeringLimit: Duration = .seconds(10)

    private var wanted: ServiceAnnouncement?
    private var onCollision: (@Sendable (ServiceAnnouncement) -> ServiceAnnouncement)?
    private var phase = Phase.idle
    private var isHostReady = false
    private var backoff = Backoff(first: .milliseconds(200), limit: .seconds(10))

    var deadline: Duration? {
        switch phase {
        case .registering(_, let until), .pausing(let until): until
        case .idle, .established, .refused: nil
        }
    }

    func owns(_ id: AvahiObjectID) -> Bool { group == id }

    private var group: AvahiObjectID? {
        switch phase {
        case .registering(let id, _), .established(let id): id
        case .idle, .pausing, .refused: nil
        }
    }

    mutating func announce(
        _ announcement: ServiceAnnouncement,
        onCollision: @escaping @Sendable (ServiceAnnouncement) -> ServiceAnnouncement,
        _ turn: inout AvahiTurn
    ) {
        wanted = announcement
        self.onCollision = onCollision
        backoff.reset()
        publish(&turn)
    }

    mutating func withdraw(_ turn: inout AvahiTurn) {
        wanted = nil
        closeGroup(&turn)
        phase = .idle
    }

    /// The daemon has a host name now, or has lost it and withdraws what hangs on it.
    mutating func hostChanged(isReady: Bool, _ turn: inout AvahiTurn) {
        guard isReady != isHostReady else { return }
        isHostReady = isReady
        publish(&turn)
    }

    /// The client is gone, and the group with it.
    mutating func clientClosed() {
        isHostReady = false
        phase = .idle
    }

    mutating func established(_ id: AvahiObjectID, _ turn: inout AvahiTurn) {
        guard case .registering(id, _) = phase, let wanted else { return }
        phase = .established(id)
        backoff.reset()
        turn.act(.emit(.announced(instanceName: wanted.instanceName)))
    }

    /// The group failed with an Avahi error code.
    mutating func failed(code: Int32, _ turn: inout AvahiTurn) {
        closeGroup(&turn)
        switch AvahiFailure(code: code) {
        case .collision: rename(&turn)
        case .permanent: refuse(DiscoveryError(avahiCode: code), &turn)
        case .passing, .connectionLost: phase = .pausing(until: turn.now + turn.pause(&backoff))
        }
    }

    mutating func advance(_ turn: inout AvahiTurn) {
        guard let deadline, deadline <= turn.now else { return }
        publish(&turn)
    }

    private mutating func rename(_ turn: inout AvahiTurn) {
        guard let onCollision, let renamed = wanted.map(onCollision) else { return }
        do throws(DiscoveryError) {
            try renamed.validate()
            wanted = renamed
            phase = .pausing(until: turn.now + turn.pause(&backoff))
        } catch {
            refuse(error, &turn)
        }
    }

    private mutating func refuse(_ error: DiscoveryError, _ turn: inout AvahiTurn) {
        phase = .refused
        turn.act(.emit(.unavailable(error)))
    }

    private mutating func publish(_ turn: inout AvahiTurn) {
        closeGroup(&turn)
        guard isHostReady, let wanted else {
            phase = .idle
            return
        }
        phase = .registering(turn.open(.group(wanted)), until: turn.now + Self.registeringLimit)
    }

    private func closeGroup(_ turn: inout AvahiTurn) {
        if let group { turn.act(.close(group)) }
    }
}
