/// Measures a link's round-trip time by bursts of pings: what to send when, and what the answers say.
///
/// The first ping of a burst only wakes the radio: Wi-Fi power save holds it up by 50 to 300 ms. Each other follows the
/// answer to the one before, since on a link it would wait behind it. The burst's time is the shortest of theirs, the
/// reading the shortest of the last three bursts. A burst of another class than the reading's is followed by bursts
/// every second until three agree, so that a real change is followed soon and a spike is not. Pure: time is passed in.
public struct LatencyMeter: Sendable {
    /// How many pings make a burst.
    public static let pingCount = 4
    /// How far they are apart at least.
    public static let spacing = Duration.milliseconds(50)
    /// How many bursts a reading rests on, and have to agree.
    public static let window = 3
    /// The pause between bursts that do not agree.
    public static let confirmingInterval = Duration.seconds(1)
    /// The pause after bursts that agree for the first time.
    public static let firstInterval = Duration.seconds(4)
    /// The pause after those that go on agreeing: a change is seen 8 s later at most, and confirmed within 3 s more.
    public static let steadyInterval = Duration.seconds(8)
    /// How long a ping may wait for its answer; one that waits longer ends its burst.
    public static let answerLimit = Duration.seconds(1)
    /// So many bursts in a row may disagree before they come as seldom as if they agreed: a link may never be steady.
    public static let maximumConfirmations = 9

    /// What was measured; nil until a burst was answered.
    public private(set) var reading: LatencyReading?
    /// When ``wantsPing(at:)`` is to be asked next.
    public private(set) var deadline: Duration

    private struct Burst {
        var sent: [(sequence: Int, time: Duration)] = []
        var isWaiting = true
        var shortest: Duration?
    }

    private var burst: Burst?
    private var recent: [Duration] = []
    private var confirmations = 0
    private var isSteady = false

    /// Starts measuring at once.
    public init(at now: Duration) {
        deadline = now
    }

    /// Whether a ping is to be sent now; ``sent(sequence:at:)`` must follow.
    public mutating func wantsPing(at now: Duration) -> Bool {
        guard now >= deadline else { return false }
        if let burst, burst.isWaiting { end(burst, at: now) }
        return now >= deadline
    }

    /// A ping was sent.
    public mutating func sent(sequence: Int, at now: Duration) {
        var burst = burst ?? Burst()
        burst.sent.append((sequence, now))
        burst.isWaiting = true
        deadline = now + Self.answerLimit
        self.burst = burst
    }

    /// A ping was answered; others than the latest of the burst under way tell nothing.
    public mutating func pong(sequence: Int, at now: Duration) {
        guard var burst, burst.isWaiting, let last = burst.sent.last, last.sequence == sequence else { return }
        burst.isWaiting = false
        if burst.sent.count > 1 { burst.shortest = min(burst.shortest ?? Self.answerLimit, now - last.time) }
        self.burst = burst
        deadline = max(now, last.time + Self.spacing)
        if burst.sent.count == Self.pingCount { end(burst, at: now) }
    }

    private mutating func end(_ burst: Burst, at now: Duration) {
        self.burst = nil
        // From its start, so that the pause is not the longer the farther the peer.
        let start = burst.sent.first?.time ?? now
        guard let shortest = burst.shortest else {
            deadline = max(now, start + Self.firstInterval)
            return
        }
        deadline = max(now, start + add(shortest, at: now))
    }

    /// Takes a burst's time into account.
    ///
    /// - Returns: The pause until the next burst.
    private mutating func add(_ shortest: Duration, at now: Duration) -> Duration {
        recent = recent.suffix(Self.window - 1) + [shortest]
        let previous = reading?.latencyClass
        let value = recent.min() ?? shortest
        let reading = LatencyReading(value, after: previous, burstCount: recent.count, time: now)
        self.reading = reading
        let isAgreed =
            recent.count == Self.window
            && recent.allSatisfy { LatencyClass($0, after: reading.latencyClass) == reading.latencyClass }
        if isAgreed {
            // A spike that is over changes nothing: only a new class is looked at more often.
            defer { (confirmations, isSteady) = (0, true) }
            if previous != reading.latencyClass { isSteady = false }
            return isSteady ? Self.steadyInterval : Self.firstInterval
        }
        if previous != nil, previous != reading.latencyClass { isSteady = false }
        confirmations += 1
        return confirmations < Self.maximumConfirmations ? Self.confirmingInterval : Self.firstInterval
    }
}
