import HandoffSupport

/// When to dial what: an announced service, or an address that is known from elsewhere.
///
/// At once when it appears, again with growing pauses while it fails, not while a link to its peer stands. Pure: time
/// and randomness are passed in.
public struct DialSchedule<Target: Hashable & Comparable & Sendable>: Sendable {
    /// Where a target stands.
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
        var backoff: Backoff
        var failure: PairingFailure?
    }

    private var entries: [Target: Entry] = [:]

    /// Makes an empty schedule.
    public init() {}

    /// A target appeared, or its record or addresses changed: it gets a new chance at once.
    ///
    /// - Parameters:
    ///   - target: What may be dialled.
    ///   - now: The time.
    ///   - limit: The longest pause between two tries.
    public mutating func found(_ target: Target, at now: Duration, pausingAtMost limit: Duration = .seconds(60)) {
        let entry = entries[target]
        switch entry?.state {
        case .dialling, .linked: return
        case .waiting, nil:
            let backoff = Backoff(first: .seconds(1), limit: limit)
            entries[target] = Entry(state: .waiting(until: now), backoff: backoff, failure: entry?.failure)
        }
    }

    /// A target is there no more.
    public mutating func lost(_ target: Target) {
        entries[target] = nil
    }

    /// Takes the targets whose time has come; they count as being dialled from now on.
    public mutating func takeDue(at now: Duration) -> [Target] {
        let due = entries.filter { entry in
            if case .waiting(let until) = entry.value.state { until <= now } else { false }
        }.keys.sorted()
        for target in due { entries[target]?.state = .dialling }
        return due
    }

    /// When ``takeDue(at:)`` wants to be called next; nil while nothing waits.
    public var deadline: Duration? {
        entries.values.compactMap { entry in
            if case .waiting(let until) = entry.state { until } else { nil }
        }.min()
    }

    /// A link to the target's peer stands, whoever dialled.
    public mutating func linked(_ target: Target, to peer: PeerID) {
        entries[target]?.state = .linked(peer)
        entries[target]?.backoff.reset()
        entries[target]?.failure = nil
    }

    /// A try failed.
    public mutating func failed(
        _ target: Target,
        with failure: PairingFailure,
        at now: Duration,
        using generator: inout some RandomNumberGenerator
    ) {
        guard var entry = entries[target] else { return }
        if case .linked = entry.state { return }
        entry.failure = failure
        entry.state = .waiting(until: now + entry.backoff.pause(using: &generator))
        entries[target] = entry
    }

    /// A peer's last link ended: its targets are dialled again, after a pause.
    public mutating func ended(
        _ peer: PeerID,
        at now: Duration,
        using generator: inout some RandomNumberGenerator
    ) {
        for (target, var entry) in entries where entry.state == .linked(peer) {
            entry.state = .waiting(until: now + entry.backoff.pause(using: &generator))
            entries[target] = entry
        }
    }

    /// All targets, in no particular order.
    public var targets: [Target] { Array(entries.keys) }

    /// Where a target stands; nil for one that is not there.
    public func state(of target: Target) -> State? { entries[target]?.state }

    /// Why the last try failed; nil before the first, and after a success.
    public func failure(of target: Target) -> PairingFailure? { entries[target]?.failure }
}
