public import FoundationEssentials
public import HandoffModel
import HandoffSupport
import HandoffTransport

/// What the user is doing in an app, to be continued on another device: the model of Apple's `NSUserActivity`.
///
/// An activity is made by ``HandoffPeer/makeActivity(type:title:delegate:)`` and offered to the paired peers from
/// ``becomeCurrent()`` to ``resignCurrent()`` or ``invalidate()``. Its payload stays here until a peer asks for it.
/// Properties may be set from anywhere at any time; peers hear at once of what changes the offer.
public final class UserActivity: Sendable {
    /// How long the app may take to save its state (docs/protocol.md, "Continuing").
    public static let saveLimit = Duration.seconds(2)

    private struct Content {
        var state: ActivityState
        weak var delegate: (any UserActivityDelegate)?
        /// True while the peer is about to look at what changed.
        var isLookDue = false
    }

    /// The activity's id; a new one for each activity.
    public let id: UUID
    /// The reverse-DNS type that selects the receiving app; never shown to people.
    public let type: String
    /// Which apps understand the activity's userInfo, as the app's configuration says for the type.
    public let contentVersion: ContentVersion

    private let content: LockedBox<Content>
    private let peer: WeakPeer

    init(
        id: UUID,
        type: String,
        title: String,
        contentVersion: ContentVersion,
        delegate: (any UserActivityDelegate)?,
        peer: HandoffPeer
    ) {
        self.id = id
        self.type = type
        self.contentVersion = contentVersion
        content = LockedBox(Content(state: ActivityState(title: title), delegate: delegate))
        self.peer = WeakPeer(peer)
    }

    // MARK: - Properties

    /// The title that peers show to people; an offer holds ``Offer/maximumTitleSize`` bytes of it.
    public var title: String {
        get { content.withLock { $0.state.title } }
        set { change { $0.title = newValue } }
    }

    /// What was saved last; property-list values only.
    ///
    /// Emptied before each save. Encoded, it may have ``ActivityPayload/maximumUserInfoSize`` bytes, and should have
    /// ``ActivityPayload/recommendedUserInfoSize`` at most.
    public var userInfo: [String: PropertyList] {
        get { content.withLock { $0.state.userInfo } }
        set { content.withLock { $0.state.userInfo = newValue } }
    }

    /// The keys without which userInfo is of no use, at most ``ActivityDetails/maximumRequiredKeyCount``.
    ///
    /// Where the app did not save one of them, a continuation fails with ``HandoffError/Code/missingKey``, naming it.
    public var requiredUserInfoKeys: Set<String> {
        get { content.withLock { $0.state.details.requiredUserInfoKeys } }
        set { change { $0.details.requiredUserInfoKeys = newValue } }
    }

    /// The same content on the web, for devices without an app for the type; see ``setWebpageURL(_:)``.
    public var webpageURL: URL? { content.withLock { $0.state.details.webpageURL } }

    /// Names the same content on the web; nil for none.
    ///
    /// - Throws: ``HandoffError/Code/invalidActivity`` where the address is not `http` or `https`, has no host or is
    ///   longer than 2,048 bytes.
    public func setWebpageURL(_ url: URL?) throws(HandoffError) {
        if let url, !WebpageURL.isValid(url) {
            throw HandoffError(
                .invalidActivity,
                "a web page's address begins with http:// or https:// and names a host"
            )
        }
        change { $0.details.webpageURL = url }
    }

    /// From when on the activity is not offered any more; nil for never.
    public var expirationDate: Date? {
        get { content.withLock { $0.state.details.expirationDate } }
        set { change { $0.details.expirationDate = newValue } }
    }

    /// False for what is to stay on this machine, even while it is current.
    public var isEligibleForHandoff: Bool {
        get { content.withLock { $0.state.isEligibleForHandoff } }
        set { change { $0.isEligibleForHandoff = newValue } }
    }

    /// What the activity is about, so that the other device can use a window or an editor that shows it already.
    ///
    /// At most ``ActivityDetails/maximumTextSize`` bytes; a longer one fails when the activity is fetched.
    public var targetContentIdentifier: String? {
        get { content.withLock { $0.state.details.targetContentIdentifier } }
        set { change { $0.details.targetContentIdentifier = newValue } }
    }

    /// True where the app gives by a stream what is too large for userInfo.
    public var supportsContinuationStreams: Bool {
        get { content.withLock { $0.state.supportsContinuationStreams } }
        set { change { $0.supportsContinuationStreams = newValue } }
    }

    /// True where the app's state is newer than what was saved.
    ///
    /// Setting it is cheap: set it at each change. Who continued the activity is told of the first change after each
    /// save, at most once a second.
    public var needsSave: Bool {
        get { content.withLock { $0.state.needsSave } }
        set {
            let isNews = content.withLock { content in
                defer { content.state.needsSave = newValue }
                return newValue && !content.state.needsSave
            }
            if isNews { askPeerToLook() }
        }
    }

    /// True after ``invalidate()``.
    public var isInvalidated: Bool { content.withLock { $0.state.phase == .invalidated } }

    /// Merges entries into ``userInfo``; a key that is there already gets the new value.
    public func addUserInfoEntries(_ entries: [String: PropertyList]) {
        content.withLock { $0.state.userInfo.merge(entries) { $1 } }
    }

    // MARK: - Life

    /// Makes it what the user is doing now; the app's earlier current activity is current no more.
    ///
    /// Does nothing on an activity that is current or invalidated. The app's state is saved once, soon, not before this
    /// returns.
    public func becomeCurrent() async {
        guard content.withLock({ $0.state.becomeCurrent() }) else { return }
        await peer.value?.phaseChanged(self)
    }

    /// Takes it back; it may become current again.
    public func resignCurrent() async {
        guard content.withLock({ $0.state.resignCurrent() }) else { return }
        await peer.value?.phaseChanged(self)
    }

    /// Ends it for good: its offer is taken back, and it cannot become current again.
    public func invalidate() async {
        guard content.withLock({ $0.state.invalidate() }) else { return }
        await peer.value?.phaseChanged(self)
    }

    /// Another activity became current: this one is not, and nobody has to be told.
    func wasReplaced() {
        content.withLock { _ = $0.state.resignCurrent() }
    }

    // MARK: - For the peer

    /// What peers are told of it.
    var offer: Offer { content.withLock { offer($0.state) } }

    /// Its state, for a decision.
    var state: ActivityState { content.withLock { $0.state } }

    private func offer(_ state: ActivityState) -> Offer {
        Offer(
            id: id,
            type: type,
            title: state.title,
            supportsStreams: state.supportsContinuationStreams,
            hasWebpage: state.details.webpageURL != nil,
            contentVersion: contentVersion
        )
    }

    private func change(_ body: (inout ActivityState) -> Void) {
        content.withLock { body(&$0.state) }
        askPeerToLook()
    }

    /// Lets the peer look at what changed, once for as many changes as come before it does.
    private func askPeerToLook() {
        let isDue = content.withLock { content in
            guard content.state.phase == .current else { return false }
            defer { content.isLookDue = true }
            return !content.isLookDue
        }
        guard isDue else { return }
        // Nobody cancels it: it is over at once.
        Task(executorPreference: QuietExecutor.shared) { [self] in
            content.withLock { $0.isLookDue = false }
            await peer.value?.changed(self)
        }
    }

    /// Saves the app's state where it is newer than the saved one, and gives what travels.
    ///
    /// - Throws: ``HandoffError``: `remoteApplicationTimedOut`, `userInfoTooLarge`, `missingKey`, `invalidActivity`; what
    ///   the app's hook throws; `CancellationError`.
    func payload(lane: CallbackLane, clock: MonotonicClock) async throws -> ActivityPayload {
        let timeout = HandoffError(.remoteApplicationTimedOut, "the app did not save its state within 2 s")
        return try await lane.run(limit: Self.saveLimit, clock: clock, timeoutError: timeout) { [self] in
            let delegate = content.withLock { content in content.state.beginSave() ? content.delegate : nil }
            do {
                try await delegate?.userActivityWillSave(self)
            } catch {
                // What was saved before is emptied: the next one who asks must not get half a state.
                content.withLock { $0.state.needsSave = true }
                throw error
            }
            return try content.withLock { content throws(HandoffError) in
                let state = content.state
                return try ActivityPayload(offer: offer(state), userInfo: state.userInfo, details: state.details)
            }
        }
    }

    /// Tells the app that a device is about to get what was saved.
    func willTravel(to peer: RemotePeer, lane: CallbackLane, clock: MonotonicClock) async {
        let delegate = content.withLock { $0.delegate }
        _ = try? await lane.run(limit: Self.saveLimit, clock: clock, timeoutError: CancellationError()) { [self] in
            await delegate?.userActivity(self, willTravelTo: peer)
        }
    }

    /// Lets the app talk over a stream that a device which fetched the activity has opened.
    func didOpen(_ stream: StreamConnection, for peer: RemotePeer) async {
        let delegate = content.withLock { $0.delegate }
        await delegate?.userActivity(self, didOpen: stream, for: peer)
    }

    /// Tells the app that another device goes on with it.
    func wasContinued(lane: CallbackLane, clock: MonotonicClock) async {
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
