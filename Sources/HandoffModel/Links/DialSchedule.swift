import HandoffSupport

/// When to dial which announced service.
///
/// At once when it appears, again with growing pauses while it fails, not while a link to its peer stands, and not where
/// there is no room for another link. Pure: time and randomness are passed in.
public struct DialSchedule: Sendable {
    /// How many services are dialled at once, so that handshakes among hundreds of peers do not hold each other up past
    /// their deadlines.
    public static let maximumDialling = 32

    /// Where a service stands.
    public enum State: Hashable, Sendable {
        /// Waits for its next try.
        case waiting(until: Duration)
        /// Is being dialled.
        case dialling
        /// Its peer is linked.
        case linked(PeerID)
    }

    private struct Entry {
        var state: State
        var backoff = Backoff(first: .seconds(1), limit: .seconds(60))
        /// For a peer that has no room: it calls itself when it has, so asking again is for the case that it cannot.
        var busyBackoff = Backoff(first: .seconds(60), limit: .seconds(900))
        var failure: PairingFailure?
    }

    private var entries: [String: Entry] = [:]

    private var diallingCount: Int { entries.values.count { $0.state == .dialling } }

    /// Makes an empty schedule.
    public init() {}

    /// A service appeared, or its record or addresses changed: it gets a new chance at once.
    public mutating func found(_ service: String, at now: Duration) {
        guard let entry = entries[service], case .waiting = entry.state else {
            if entries[service] == nil { entries[service] = Entry(state: .waiting(until: now)) }
            return
        }
        entries[service] = Entry(state: .waiting(until: now), failure: entry.failure)
    }

    /// A service is announced no more.
    public mutating func lost(_ service: String) {
        entries[service] = nil
    }

    /// Takes the services whose time has come; they count as being dialled from now on.
    ///
    /// - Parameters:
    ///   - now: The time.
    ///   - room: For how many more links there is room; those being dialled are counted against it.
    public mutating func takeDue(at now: Duration, room: Int) -> [String] {
        let count = min(room, Self.maximumDialling) - diallingCount
        guard count > 0 else { return [] }
        let due = entries.filter { entry in
            if case .waiting(let until) = entry.value.state { until <= now } else { false }
        }.keys.sorted().prefix(count)
        for service in due { entries[service]?.state = .dialling }
        return Array(due)
    }

    /// When ``takeDue(at:room:)`` wants to be called next; nil while nothing waits for its time.
    public func deadline(room: Int) -> Duration? {
        guard diallingCount < min(room, Self.maximumDialling) else { return nil }
        return entries.values.compactMap { entry in
            if case .waiting(let until) = entry.state { until } else { nil }
        }.min()
    }

    /// A link to the service's peer stands, whoever dialled.
    public mutating func linked(_ service: String, to peer: PeerID) {
        entries[service]?.state = .linked(peer)
        entries[service]?.backoff.reset()
        entries[service]?.busyBackoff.reset()
        entries[service]?.failure = nil
    }

    /// A try failed.
    public mutating func failed(
        _ service: String,
        with failure: PairingFailure,
        at now: Duration,
        using generator: inout some RandomNumberGenerator
    ) {
        guard var entry = entries[service] else { return }
        if case .linked = entry.state { return }
        entry.failure = failure
        let pause =
            failure == .busy
            ? entry.busyBackoff.pause(using: &generator) : entry.backoff.pause(using: &generator)
        entry.state = .waiting(until: now + pause)
        entries[service] = entry
    }

    /// A peer's last link ended: its services are dialled again, after a pause.
    public mutating func ended(
        _ peer: PeerID,
        at now: Duration,
        using generator: inout some RandomNumberGenerator
    ) {
        for (service, var entry) in entries where entry.state == .linked(peer) {
            entry.state = .waiting(until: now + entry.backoff.pause(using: &generator))
            entries[service] = entry
        }
    }

    /// Where a service stands; nil for one that is not announced.
    public func state(of service: String) -> State? { entries[service]?.state }

    /// Why the last try failed; nil before the first, and after a success.
    public func failure(of service: String) -> PairingFailure? { entries[service]?.failure }
}
