public import Handoff
public import HandoffModel

/// An app that writes down what it is told, and does what a test wants meanwhile.
public actor TestApp: HandoffApplication, UserActivityDelegate {
    /// What an app is told.
    public enum Event: Equatable, Sendable {
        /// Whether it wants an activity.
        case shouldContinue
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
    }

    /// What it was told, in order.
    public private(set) var events: [Event] = []

    private var isWelcoming = true
    private var onWillContinue: @Sendable () async -> Void = {}
    private var onSave: @Sendable (UserActivity) async throws -> Void = { _ in }
    private var onRestore: @Sendable () async throws -> Void = {}

    /// Makes an app that wants everything and saves nothing.
    public init() {}

    /// Sets whether it wants the activities that are offered to it.
    public func setWelcoming(_ isWelcoming: Bool) { self.isWelcoming = isWelcoming }
    /// Sets what it does when a state is about to come.
    public func whenContinuing(_ body: @escaping @Sendable () async -> Void) { onWillContinue = body }
    /// Sets what it does when it has to save.
    public func whenSaving(_ body: @escaping @Sendable (UserActivity) async throws -> Void) { onSave = body }
    /// Sets what it does with a state that came.
    public func whenRestoring(_ body: @escaping @Sendable () async throws -> Void) { onRestore = body }
    /// Forgets what it was told.
    public func forget() { events = [] }

    /// Writes it down.
    public func shouldContinue(_ offer: Offer, from peer: RemotePeer) async -> Bool {
        events.append(.shouldContinue)
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
        try await onRestore()
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
}
