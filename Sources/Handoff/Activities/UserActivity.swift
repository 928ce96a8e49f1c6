public import FoundationEssentials
public import HandoffModel
import HandoffSupport

/// What the app that made an activity is told of it.
public protocol UserActivityDelegate: AnyObject, Sendable {
    /// Fills in the state that is to travel: userInfo is empty, and what is added now is what the other device gets.
    ///
    /// Called before a payload leaves, where ``UserActivity/needsSave`` is true, never once a keystroke; it has 2 s.
    ///
    /// - Throws: Why the state cannot be saved; the peer that asked is told that it could not, and nothing travels.
    func userActivityWillSave(_ activity: UserActivity) async throws

    /// Another device goes on with the activity. It stays valid here; only an app whose activity must not live twice
    /// invalidates it now.
    func userActivityWasContinued(_ activity: UserActivity) async
}

/// What the user is doing in an app, to be continued on another device: the model of Apple's `NSUserActivity`.
///
/// An activity is made by ``HandoffPeer/makeActivity(type:title:delegate:)`` and offered to the paired peers from
/// ``becomeCurrent()`` to ``resignCurrent()`` or ``invalidate()``. Its payload stays here until a peer asks for it.
public final class UserActivity: Sendable {
    /// How long the app may take to save its state (docs/protocol.md, "Continuing").
    public static let saveLimit = Duration.seconds(2)

    private struct Content {
        var state = ActivityState()
        var title: String
        weak var delegate: (any UserActivityDelegate)?
    }

    /// The activity's id; a new one for each activity.
    public let id: UUID
    /// The reverse-DNS type that selects the receiving app; never shown to people.
    public let type: String

    private let content: LockedBox<Content>
    private let lane: CallbackLane
    private let clock: MonotonicClock
    private let log: Log
    private let peer: WeakPeer

    init(
        id: UUID,
        type: String,
        title: String,
        delegate: (any UserActivityDelegate)?,
        peer: HandoffPeer,
        lane: CallbackLane,
        clock: MonotonicClock,
        log: Log
    ) {
        self.id = id
        self.type = type
        content = LockedBox(Content(title: title, delegate: delegate))
        self.peer = WeakPeer(peer)
        self.lane = lane
        self.clock = clock
        self.log = log
    }

    /// The title that peers show to people; an offer holds ``Offer/maximumTitleSize`` bytes of it.
    public var title: String {
        get { content.withLock { $0.title } }
        set { content.withLock { $0.title = newValue } }
    }

    /// What was saved last; property-list values only.
    ///
    /// Emptied before each save. Encoded, it may have ``ActivityPayload/maximumUserInfoSize`` bytes, and should have
    /// ``ActivityPayload/recommendedUserInfoSize`` at most.
    public var userInfo: [String: PropertyList] {
        get { content.withLock { $0.state.userInfo } }
        set { content.withLock { $0.state.userInfo = newValue } }
    }

    /// True where the app's state is newer than what was saved.
    ///
    /// Setting it is cheap: set it at each change.
    public var needsSave: Bool {
        get { content.withLock { $0.state.needsSave } }
        set { content.withLock { $0.state.needsSave = newValue } }
    }

    /// True after ``invalidate()``.
    public var isInvalidated: Bool { content.withLock { $0.state.phase == .invalidated } }

    /// Merges entries into ``userInfo``; a key that is there already gets the new value.
    public func addUserInfoEntries(_ entries: [String: PropertyList]) {
        content.withLock { $0.state.userInfo.merge(entries) { $1 } }
    }

    /// Makes it what the user is doing now; the app's earlier current activity is current no more.
    ///
    /// Does nothing on an activity that is current or invalidated. The app's state is saved once, soon, not before this
    /// returns.
    public func becomeCurrent() async {
        guard content.withLock({ $0.state.becomeCurrent() }) else { return }
        await peer.value?.becameCurrent(self)
    }

    /// Takes it back; it may become current again.
    public func resignCurrent() async {
        guard content.withLock({ $0.state.resignCurrent() }) else { return }
        await peer.value?.resigned(self)
    }

    /// Ends it for good: its offer is taken back, and it cannot become current again.
    public func invalidate() async {
        guard content.withLock({ $0.state.invalidate() }) else { return }
        await peer.value?.resigned(self)
    }

    /// What peers are told of it.
    var offer: Offer { Offer(id: id, type: type, title: title) }

    /// Another activity became current: this one is not, and nobody has to be told.
    func wasReplaced() {
        content.withLock { _ = $0.state.resignCurrent() }
    }

    /// Saves the app's state where it is newer than the saved one, and gives what travels.
    ///
    /// - Throws: ``HandoffError``: `remoteApplicationTimedOut`, `userInfoTooLarge`, `invalidActivity`; what the app's
    ///   hook throws; `CancellationError`.
    func payload() async throws -> ActivityPayload {
        let timeout = HandoffError(.remoteApplicationTimedOut, "the app did not save its state within 2 s")
        let payload = try await lane.run(limit: Self.saveLimit, clock: clock, timeoutError: timeout) { [self] in
            let delegate = content.withLock { content in content.state.beginSave() ? content.delegate : nil }
            do {
                try await delegate?.userActivityWillSave(self)
            } catch {
                // What was saved before is emptied: the next one who asks must not get half a state.
                needsSave = true
                throw error
            }
            return try content.withLock { content throws(HandoffError) in
                try ActivityPayload(id: id, type: type, title: content.title, userInfo: content.state.userInfo)
            }
        }
        let size = try ActivityPayload.encodedSize(of: payload.userInfo)
        if size > ActivityPayload.recommendedUserInfoSize {
            log(.warning, "large userInfo slows a handoff down", ["activity.type": type, "size": "\(size)"])
        }
        return payload
    }

    /// Tells the app that another device goes on with it.
    func wasContinued() async {
        let delegate = content.withLock { $0.delegate }
        _ = try? await lane.run(limit: Self.saveLimit, clock: clock, timeoutError: CancellationError()) { [self] in
            await delegate?.userActivityWasContinued(self)
        }
    }
}

/// A peer that an activity of its does not keep alive.
private struct WeakPeer: Sendable {
    weak let value: HandoffPeer?

    init(_ value: HandoffPeer) { self.value = value }
}
