public import Handoff
public import HandoffModel
public import HandoffSupport
public import HandoffTransport

/// An app that writes down what it is told, and does what a test wants meanwhile.
public actor TestApp: HandoffApplication, UserActivityDelegate {
    /// What an app is told.
    public enum Event: Equatable, Sendable {
        /// Whether it wants an activity.
        case shouldContinue
        /// Whether it takes an activity that a peer sends.
        case shouldAccept
        /// The state is about to be fetched.
        case willContinue(String)
        /// The state is here.
        case restored([String: PropertyList])
        /// The state did not come.
        case failed(HandoffError.Code)
        /// It has to save; what userInfo held then.
        case save([String: PropertyList])
        /// Another device goes on.
        case wasContinued
        /// Whether it wants the newer state of what it continued.
        case shouldUpdate
        /// The newer state of what it continued.
        case updated([String: PropertyList])
    }

    /// What it was told, in order.
    public private(set) var events: [Event] = []

    /// The activities that it restored or was given a newer state of, in order.
    public private(set) var activities: [ContinuedActivity] = []

    private var isWelcoming = true
    private var isFollowing = false
    private var onWillContinue: @Sendable () async -> Void = {}
    private var onSave: @Sendable (UserActivity) async throws -> Void = { _ in }
    private var onRestore: @Sendable () async throws -> Void = {}
    private var onStream: @Sendable (StreamConnection) async throws -> Void = { _ in }
    private var onFile: @Sendable (ContentDigest) async throws -> OutgoingFile? = { _ in nil }

    /// Makes an app that wants everything and saves nothing.
    public init() {}

    /// Sets whether it wants the activities that are offered or sent to it.
    public func setWelcoming(_ isWelcoming: Bool) { self.isWelcoming = isWelcoming }
    /// Sets whether it wants the newer states of what it continued.
    public func setFollowing(_ isFollowing: Bool) { self.isFollowing = isFollowing }
    /// Sets what it does when a state is about to come.
    public func whenContinuing(_ body: @escaping @Sendable () async -> Void) { onWillContinue = body }
    /// Sets what it does when it has to save.
    public func whenSaving(_ body: @escaping @Sendable (UserActivity) async throws -> Void) { onSave = body }
    /// Sets what it does with a state that came.
    public func whenRestoring(_ body: @escaping @Sendable () async throws -> Void) { onRestore = body }
    /// Sets what it does with a stream of its activity.
    public func whenStreaming(_ body: @escaping @Sendable (StreamConnection) async throws -> Void) { onStream = body }
    /// Sets the files that it gives.
    public func whenAsked(_ body: @escaping @Sendable (ContentDigest) async throws -> OutgoingFile?) { onFile = body }
    /// Forgets what it was told.
    public func forget() { events = [] }

    /// Writes it down.
    public func shouldContinue(_ offer: Offer, from peer: RemotePeer) async -> Bool {
        events.append(.shouldContinue)
        return isWelcoming
    }

    /// Writes it down.
    public func shouldAccept(_ offer: Offer, from peer: RemotePeer) async -> Bool {
        events.append(.shouldAccept)
        return isWelcoming
    }

    /// Writes it down.
    @discardableResult
    public func willContinue(type: String, from peer: RemotePeer) async -> Bool {
        events.append(.willContinue(type))
        await onWillContinue()
        return false
    }

    /// Writes it down.
    public func continueActivity(_ activity: ContinuedActivity) async throws {
        events.append(.restored(activity.userInfo))
        activities.append(activity)
        try await onRestore()
    }

    /// Writes it down.
    public func shouldUpdate(_ activity: ContinuedActivity) async -> Bool {
        events.append(.shouldUpdate)
        return isFollowing
    }

    /// Writes it down.
    public func didUpdate(_ activity: ContinuedActivity) async {
        events.append(.updated(activity.userInfo))
        activities.append(activity)
    }

    /// Writes it down.
    public func didFailToContinue(type: String, error: HandoffError) async {
        events.append(.failed(error.code))
    }

    /// Writes it down.
    public func userActivityWillSave(_ activity: UserActivity) async throws {
        events.append(.save(activity.userInfo))
        try await onSave(activity)
    }

    /// Writes it down.
    public func userActivityWasContinued(_ activity: UserActivity) async {
        events.append(.wasContinued)
    }

    /// Does with the stream what the test wants, beside everything else.
    nonisolated public func userActivity(
        _ activity: UserActivity,
        didOpen stream: StreamConnection,
        for peer: RemotePeer
    ) async {
        // Where it fails, the stream is cut off.
        do { try await onStream(stream) } catch { stream.abort() }
    }

    /// Gives a file that the test wants it to have.
    nonisolated public func file(_ digest: ContentDigest, for peer: RemotePeer) async -> OutgoingFile? {
        try? await onFile(digest)
    }
}
