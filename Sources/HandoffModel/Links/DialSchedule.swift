import HandoffSupport

/// When to dial which announced service.
///
/// At once when it appears, again with growing pauses while it fails, not while a link to its peer stands, and not where
/// there is no room for another link. Pure: time and randomness are passed in.
///
/// Anybody can announce copies of a record under names of their own. Copies have the salt of the record: the services of
/// one salt take turns with those of the others, and when there is no more room, one of the most copied goes.
public struct DialSchedule: Sendable {
    /// How many services are kept: eight times as many as may be linked.
    public static let capacity = 512
    /// How many services are dialled at once; a try at a silent address takes seconds, and a descriptor or several.
    public static let dialLimit = 16

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
        /// Earlier services have lower numbers.
        let number: UInt64
        let salt: DiscoverySalt
        var state: State
        var backoff = Backoff(first: .seconds(1), limit: .seconds(60))
        /// For a peer that has no room: it dials by itself when it has, so asking again is for the case that it cannot.
        var busyBackoff = Backoff(first: .seconds(60), limit: .seconds(900))
        var failure: PairingFailure?
    }

    private var entries: [String: Entry] = [:]
    private var nextNumber: UInt64 = 0
    /// The services that a try is being made at, be they announced still or not.
    private var dials: [String: DiscoverySalt] = [:]

    /// Makes an empty schedule.
    public init() {}

    /// How many services it has.
    public var count: Int { entries.count }

    /// A service appeared, or its record or addresses changed: it gets a new chance at once.
    ///
    /// - Parameters:
    ///   - service: Its instance name.
    ///   - salt: The salt of its record.
    ///   - now: The time.
    /// - Returns: The service that had to go for it, and is forgotten; nil where there was room.
    public mutating func found(_ service: String, salt: DiscoverySalt, at now: Duration) -> String? {
        let known = entries[service]
        if let known {
            guard case .waiting = known.state else { return nil }
        }
        let number = known?.number ?? nextNumber
        if known == nil { nextNumber += 1 }
        entries[service] = Entry(number: number, salt: salt, state: .waiting(until: now), failure: known?.failure)
        guard entries.count > Self.capacity else { return nil }
        return evict()
    }

    /// Forgets one of the services that share their salt with the most others: the oldest that has failed, if any has.
    private mutating func evict() -> String? {
        let counts = Dictionary(entries.values.map { ($0.salt, 1) }, uniquingKeysWith: +)
        func rank(_ entry: Entry) -> (Int, Int, UInt64) {
            (counts[entry.salt] ?? 0, entry.failure == nil ? 0 : 1, .max - entry.number)
        }
        let waiting = entries.filter { entry in
            if case .waiting = entry.value.state { true } else { false }
        }
        let victim = waiting.max { rank($0.value) < rank($1.value) }?.key
        if let victim { entries[victim] = nil }
        return victim
    }

    /// A service is announced no more.
    public mutating func lost(_ service: String) {
        entries[service] = nil
    }

    /// Takes the services whose time has come, as far as they may be dialled at once; ``dialEnded(_:)`` gives a place
    /// back.
    ///
    /// - Parameters:
    ///   - now: The time.
    ///   - room: For how many more links there is room; those being dialled are counted against it.
    public mutating func takeDue(at now: Duration, room: Int) -> [String] {
        var due = waiting().filter { $0.until <= now }.sorted { ($0.until, $0.service) < ($1.until, $1.service) }
        var counts = Dictionary(dials.values.map { ($0, 1) }, uniquingKeysWith: +)
        var taken: [String] = []
        while dials.count < min(Self.dialLimit, room), !due.isEmpty {
            // Of equals the first, which has waited longest.
            let next = due.indices.min { counts[due[$0].salt, default: 0] < counts[due[$1].salt, default: 0] } ?? 0
            let (service, salt, _) = due.remove(at: next)
            entries[service]?.state = .dialling
            dials[service] = salt
            counts[salt, default: 0] += 1
            taken.append(service)
        }
        return taken
    }

    /// A try is over, whatever came of it.
    public mutating func dialEnded(_ service: String) {
        dials[service] = nil
    }

    /// When ``takeDue(at:room:)`` wants to be called next; nil while nothing waits, or no more may be dialled at once.
    public func deadline(room: Int) -> Duration? {
        dials.count < min(Self.dialLimit, room) ? waiting().map(\.until).min() : nil
    }

    /// Who waits for a try, but for those where an earlier one is still under way.
    private func waiting() -> [(service: String, salt: DiscoverySalt, until: Duration)] {
        entries.compactMap { service, entry in
            guard case .waiting(let until) = entry.state, dials[service] == nil else { return nil }
            return (service, entry.salt, until)
        }
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
