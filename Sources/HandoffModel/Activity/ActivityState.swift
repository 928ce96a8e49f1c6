public import FoundationEssentials

/// The life of an activity at its origin: what may follow what, as `NSUserActivity` has it.
///
/// Pure: the caller runs the app's save hook when a method says so, and tells the time.
public struct ActivityState: Sendable, Hashable {
    /// Where an activity is in its life.
    public enum Phase: Sendable, Hashable {
        /// Made, or resigned: not offered, may become current.
        case idle
        /// What the user is doing now.
        case current
        /// Over for good.
        case invalidated
    }

    /// Where the activity is in its life.
    public private(set) var phase = Phase.idle
    /// True where the app's state is newer than the saved one: the save hook runs before the next payload leaves.
    ///
    /// Starts true, and is not set by setting properties.
    public var needsSave = true
    /// What the app saved last.
    public var userInfo: [String: PropertyList] = [:]
    /// The title to show to people.
    public var title: String
    /// What travels beside userInfo.
    public var details = ActivityDetails()
    /// False for an activity that stays on this machine even while it is current.
    public var isEligibleForHandoff = true
    /// True where the app gives large payloads by a stream.
    public var supportsContinuationStreams = false

    /// Makes the state of a new activity.
    public init(title: String = "") { self.title = title }

    /// Whether peers are told of the activity at a moment.
    public func isOffered(at now: Date) -> Bool { phase == .current && isEligibleForHandoff && !isExpired(at: now) }

    /// Whether the activity's time is over at a moment.
    public func isExpired(at now: Date) -> Bool { details.expirationDate.map { $0 <= now } ?? false }

    /// Makes it what the user is doing now.
    ///
    /// - Returns: True where that changed something and the first save is due; false where it was current already, or is
    ///   invalidated.
    public mutating func becomeCurrent() -> Bool {
        guard phase == .idle else { return false }
        phase = .current
        return true
    }

    /// Takes it back; it may become current again.
    ///
    /// - Returns: True where it was current.
    public mutating func resignCurrent() -> Bool {
        guard phase == .current else { return false }
        phase = .idle
        return true
    }

    /// Ends it for good.
    ///
    /// - Returns: True where it was current.
    public mutating func invalidate() -> Bool {
        defer { phase = .invalidated }
        return phase == .current
    }

    /// Begins a save: clears ``needsSave`` and empties ``userInfo`` before the app's hook fills it again, so that no
    /// value of an earlier save survives and a change during the hook asks for another one.
    ///
    /// - Returns: True where the hook has to run.
    public mutating func beginSave() -> Bool {
        guard needsSave else { return false }
        needsSave = false
        userInfo = [:]
        return true
    }
}
