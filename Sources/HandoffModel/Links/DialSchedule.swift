import HandoffSupport

/// When to dial what: an announced service, or an address that is known from elsewhere.
///
/// At once when it appears, again with growing pauses while it fails, not while a link to its peer stands, and not where
/// there is no room for another link. Pure: time and randomness are passed in.
///
/// Anybody can announce copies of a record under names of their own. Copies have the salt of the record: the services of
/// one salt take turns with those of the others, and when there is no more room, one of the most copied goes.
public struct DialSchedule<Target: Hashable & Comparable & Sendable>: Sendable {
    /// How many announced services are kept: eight times as many as may be linked.
    public static var capacity: Int { 512 }
    /// How many targets are dialled at once; a try at a silent address takes seconds, and a descriptor or several.
    public static var dialLimit: Int { 16 }

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
        /// Earlier targets have lower numbers.
        let number: UInt64
        /// The salt of a service's record; nil for what nobody can copy.
        let salt: DiscoverySalt?
        var state: State
        var backoff: Backoff
        /// For a peer that has no room: it dials by itself when it has, so asking again is for the case that it cannot.
        var busyBackoff = Backoff(first: .seconds(60), limit: .seconds(900))
        var failure: PairingFailure?
    }

    private var entries: [Target: Entry] = [:]
    private var nextNumber: UInt64 = 0
    /// The targets that a try is being made at, be they there still or not.
    private var dials: [Target: DiscoverySalt?] = [:]

    /// Makes an empty schedule.
    public init() {}

    /// A target appeared, or its record or addresses changed: it gets a new chance at once.
    ///
    /// - Parameters:
    ///   - target: What may be dialled.
    ///   - salt: The salt of its record; nil where it is no announced service.
    ///   - now: The time.
    ///   - limit: The longest pause between two tries.
    /// - Returns: The service that had to go for it, and is forgotten; nil where there was room.
    @discardableResult
    public mutating func found(
        _ target: Target,
        salt: DiscoverySalt? = nil,
        at now: Duration,
        pausingAtMost limit: Duration = .seconds(60)
    ) -> Target? {
        let known = entries[target]
        if let known {
            guard case .waiting = known.state else { return nil }
        }
        let number = known?.number ?? nextNumber
        if known == nil { nextNumber += 1 }
        entries[target] = Entry(
            number: number,
            salt: salt,
            state: .waiting(until: now),
            backoff: Backoff(first: .seconds(1), limit: limit),
            failure: known?.failure
        )
        guard salt != nil, entries.values.count(where: { $0.salt != nil }) > Self.capacity else { return nil }
        return evict()
    }

    /// Forgets one of the services that share their salt with the most others: the oldest that has failed, if any has.
    private mutating func evict() -> Target? {
        let counts = Dictionary(entries.values.map { ($0.salt, 1) }, uniquingKeysWith: +)
        func rank(_ entry: Entry) -> (Int, Int, UInt64) {
            (counts[entry.salt] ?? 0, entry.failure == nil ? 0 : 1, .max - entry.number)
        }
        let waiting = entries.filter { entry in
            if case .waiting = entry.value.state { entry.value.salt != nil } else { false }
        }
        let victim = waiting.max { rank($0.value) < rank($1.value) }?.key
        if let victim { entries[victim] = nil }
        return victim
    }

    /// A target is there no more.
    public mutating func lost(_ target: Target) {
        entries[target] = nil
    }

    /// Takes the targets whose time has come, as far as they may be dialled at once; ``dialEnded(_:)`` gives a place
    /// back.
    ///
    /// - Parameters:
    ///   - now: The time.
    ///   - room: For how many more links there is room; those being dialled are counted against it.
    public mutating func takeDue(at now: Duration, room: Int) -> [Target] {
        var due = waiting().filter { $0.until <= now }.sorted { ($0.until, $0.target) < ($1.until, $1.target) }
        var counts = Dictionary(dials.values.map { ($0, 1) }, uniquingKeysWith: +)
        var taken: [Target] = []
        while dials.count < min(Self.dialLimit, room), !due.isEmpty {
            // Of equals the first, which has waited longest.
            let next = due.indices.min { counts[due[$0].salt, default: 0] < counts[due[$1].salt, default: 0] } ?? 0
            let (target, salt, _) = due.remove(at: next)
            entries[target]?.state = .dialling
            dials.updateValue(salt, forKey: target)
            counts[salt, default: 0] += 1
            taken.append(target)
        }
        return taken
    }

    /// A try is over: there is a connection, or nothing is to come of it.
    public mutating func dialEnded(_ target: Target) {
        dials.removeValue(forKey: target)
    }

    /// When ``takeDue(at:room:)`` wants to be called next; nil while nothing waits, or no more may be dialled at once.
    public func deadline(room: Int) -> Duration? {
        dials.count < min(Self.dialLimit, room) ? waiting().map(\.until).min() : nil
    }

    /// Who waits for a try, but for those where an earlier one is still under way.
    private func waiting() -> [(target: Target, salt: DiscoverySalt?, until: Duration)] {
        entries.compactMap { target, entry in
            guard case .waiting(let until) = entry.state, dials[target] == nil else { return nil }
            return (target, entry.salt, until)
        }
    }

    /// A link to the target's peer stands, whoever dialled.
    public mutating func linked(_ target: Target, to peer: PeerID) {
        entries[target]?.state = .linked(peer)
        entries[target]?.backoff.reset()
        entries[target]?.busyBackoff.reset()
        entries[target]?.failure = nil
    }

    /// A try failed, and is over.
    public mutating func failed(
        _ target: Target,
        with failure: PairingFailure,
        at now: Duration,
        using generator: inout some RandomNumberGenerator
    ) {
        dialEnded(target)
        guard var entry = entries[target] else { return }
        if case .linked = entry.state { return }
        entry.failure = failure
        let pause =
            failure == .busy
            ? entry.busyBackoff.pause(using: &generator) : entry.backoff.pause(using: &generator)
        entry.state = .waiting(until: now + pause)
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
