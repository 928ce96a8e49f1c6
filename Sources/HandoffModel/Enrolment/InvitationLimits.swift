/// How long an invitation stands, and how many wrong codes it bears: the states of one invitation.
///
/// Times are given from outside, as durations since any fixed moment.
public struct InvitationLimits: Sendable {
    /// How long an invitation can be used (docs/protocol.md, "Enrolment").
    public static let lifetime = Duration.seconds(5 * 60)
    /// What lies at least between a wrong code and the next one that is looked at.
    public static let pause = Duration.seconds(1)
    /// The wrong code that ends the invitation.
    public static let maximumWrongTries = 20

    /// What may be done with a code that somebody tries.
    public enum Turn: Hashable, Sendable {
        /// It may be looked at.
        case now
        /// It has to wait.
        case after(Duration)
        /// Nothing; the invitation is over.
        case over
    }

    /// When the invitation's time is over.
    public let end: Duration
    /// How many wrong codes were tried.
    public private(set) var wrongTries = 0
    private var nextTry: Duration
    private var isUsed = false

    /// Opens an invitation.
    public init(now: Duration) {
        end = now + Self.lifetime
        nextTry = now
    }

    /// Whether wrong codes have ended it.
    public var isExhausted: Bool { wrongTries >= Self.maximumWrongTries }

    /// Says what may be done with a code that was sent.
    public func turn(now: Duration) -> Turn {
        guard !isUsed, !isExhausted, now < end else { return .over }
        return now < nextTry ? .after(nextTry - now) : .now
    }

    /// Counts a wrong code.
    public mutating func recordWrongTry(now: Duration) {
        wrongTries += 1
        nextTry = now + Self.pause
    }

    /// Takes the one use.
    ///
    /// - Returns: False where it was taken, or the invitation is over for another reason.
    public mutating func use(now: Duration) -> Bool {
        guard turn(now: now) != .over else { return false }
        isUsed = true
        return true
    }
}
