/// Whether the other end of a link is still there, judged by pings and not by any time to live.
///
/// A link whose either end offers something is pinged every 4 s, others every 60 s. No pong within max(1 s, 4 SRTT)
/// makes the peer suspect; then it is pinged once a second, and the third miss ends the link: an offering peer that
/// falls silent is gone in at most 8 s. Where the latency is wanted, bursts of pings are sent besides. Pure: time is
/// passed in.
public struct LinkPresence: Sendable {
    /// What is due.
    public enum Action: Hashable, Sendable {
        /// Send a ping with this sequence number.
        case ping(sequence: Int)
        /// The peer is gone.
        case lost
    }

    /// How often a link is pinged when either end offers something (docs/protocol.md, "Presence").
    public static let offeringInterval = Duration.seconds(4)
    /// How often any other link is pinged.
    public static let idleInterval = Duration.seconds(60)
    /// The shortest wait for a pong, and the pause between the pings of a suspect.
    public static let minimumTimeout = Duration.seconds(1)
    /// So many unanswered pings in a row end the link.
    public static let missesToLose = 3
    /// How many of the last round-trip times count where no burst was answered.
    private static let sampleCount = 8

    /// True where either end offers something.
    public var isOffering = false {
        didSet {
            guard isOffering, !oldValue, outstanding == nil else { return }
            nextPing = min(nextPing, lastHeard + Self.offeringInterval)
        }
    }
    /// True from the first unanswered ping to the next sign of life.
    public private(set) var isSuspect = false
    /// When the peer was last heard of.
    public private(set) var lastHeard: Duration
    /// When ``due(at:)`` wants to be called next.
    public var deadline: Duration {
        let presence = outstanding.map(\.deadline) ?? nextPing
        // Who does not answer is not measured.
        return isSuspect ? presence : min(presence, meter?.deadline ?? presence)
    }

    private struct Outstanding {
        let sequence: Int
        let sent: Duration
        let deadline: Duration
    }

    private var nextPing: Duration
    private var outstanding: Outstanding?
    private var sequence = 0
    private var misses = 0
    private var smoothed: Duration?
    private var samples: [(roundTrip: Duration, time: Duration)] = []
    private var meter: LatencyMeter?

    /// Starts watching; the first ping is due at once, so that the latency is known early.
    public init(at now: Duration) {
        lastHeard = now
        nextPing = now
    }

    /// The round-trip time: of the bursts, else of the pings, else nil.
    public var latency: LatencyReading? {
        if let reading = meter?.reading { return reading }
        guard let shortest = samples.map(\.roundTrip).min(), let time = samples.last?.time else { return nil }
        return LatencyReading(shortest, burstCount: 0, time: time)
    }

    /// True while the latency is measured.
    public var isMeasuring: Bool { meter != nil }

    /// Says whether the latency is to be measured from now on; it begins with a burst at once.
    public mutating func measure(_ isWanted: Bool, at now: Duration) {
        guard isWanted != (meter != nil) else { return }
        meter = isWanted ? LatencyMeter(at: now) : nil
    }

    /// Does what the time asks for.
    public mutating func due(at now: Duration) -> [Action] {
        var actions = presenceDue(at: now)
        guard !isSuspect, meter?.wantsPing(at: now) == true else { return actions }
        // A ping that presence sends now anyway is the burst's, too.
        if actions.isEmpty { actions = ping(at: now) }
        meter?.sent(sequence: sequence, at: now)
        return actions
    }

    private mutating func presenceDue(at now: Duration) -> [Action] {
        if let pending = outstanding {
            guard now >= pending.deadline else { return [] }
            // Whoever sends is there: its answer waits behind what else it sent.
            guard lastHeard <= pending.sent else {
                outstanding = nil
                return ping(at: now)
            }
            misses += 1
            isSuspect = true
            outstanding = nil
            guard misses < Self.missesToLose else { return [.lost] }
            return ping(at: now)
        }
        return now >= nextPing ? ping(at: now) : []
    }

    /// Pings now, unless an answer is awaited already: somebody wants to know whether the peer is there.
    public mutating func probe(at now: Duration) -> [Action] {
        outstanding == nil ? ping(at: now) : []
    }

    /// The peer sent something.
    public mutating func heard(at now: Duration) {
        lastHeard = now
    }

    /// The peer answered a ping; answers to older pings only count as a sign of life.
    public mutating func pong(sequence: Int, at now: Duration) {
        lastHeard = now
        misses = 0
        isSuspect = false
        meter?.pong(sequence: sequence, at: now)
        guard let pending = outstanding, pending.sequence == sequence else { return }
        outstanding = nil
        nextPing = now + (isOffering ? Self.offeringInterval : Self.idleInterval)
        let sample = now - pending.sent
        samples.append((sample, now))
        if samples.count > Self.sampleCount { samples.removeFirst() }
        // RFC 6298, 2.3: SRTT <- 7/8 SRTT + 1/8 R'.
        smoothed = smoothed.map { $0 * 7 / 8 + sample / 8 } ?? sample
    }

    private mutating func ping(at now: Duration) -> [Action] {
        sequence += 1
        // In a burst, the answer to the first ping is awaited.
        guard outstanding == nil else { return [.ping(sequence: sequence)] }
        let timeout = isSuspect ? Self.minimumTimeout : max(Self.minimumTimeout, (smoothed ?? .zero) * 4)
        outstanding = Outstanding(sequence: sequence, sent: now, deadline: now + timeout)
        return [.ping(sequence: sequence)]
    }
}
