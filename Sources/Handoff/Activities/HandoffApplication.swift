public import HandoffModel

/// An app that continues activities; its callbacks come one at a time.
///
/// Once the user accepts: ``shouldContinue(_:from:)``, ``willContinue(type:from:)``, then exactly one of
/// ``continueActivity(_:)`` and ``didFailToContinue(type:error:)``. What a peer sends unasked goes the same way, with
/// ``shouldAccept(_:from:)`` in the first place. Each has 30 s. An actor gets them on its own executor.
public protocol HandoffApplication: AnyObject, Sendable {
    /// Asks whether the app wants the activity at all.
    ///
    /// - Returns: False to refuse it; nothing is fetched then, and no other callback follows.
    func shouldContinue(_ offer: Offer, from peer: RemotePeer) async -> Bool

    /// Asks whether the app takes an activity that a peer sends unasked; the configuration's ``SendPolicy`` has been
    /// applied. It has 8 s, because the peer waits for the answer for 10 s.
    ///
    /// - Returns: False to decline it; nothing is fetched then, and no other callback follows.
    func shouldAccept(_ offer: Offer, from peer: RemotePeer) async -> Bool

    /// The state is about to be fetched; only the type is known yet.
    ///
    /// - Returns: True where the app shows the progress itself, false where its caller shall.
    @discardableResult
    func willContinue(type: String, from peer: RemotePeer) async -> Bool

    /// Restores the state.
    ///
    /// - Throws: Why it cannot be restored; the origin is then not told that its activity goes on.
    func continueActivity(_ activity: ContinuedActivity) async throws

    /// The state could not be fetched. ``HandoffError/Code/cancelled`` is no reason to bother the user.
    func didFailToContinue(type: String, error: HandoffError) async

    /// The origin has changed what was continued here, while both are up; at most once a second.
    ///
    /// - Parameter activity: As it was continued.
    /// - Returns: True to have the new state fetched, which ``didUpdate(_:)`` gets.
    func shouldUpdate(_ activity: ContinuedActivity) async -> Bool

    /// The new state of what was continued here.
    func didUpdate(_ activity: ContinuedActivity) async
}

extension HandoffApplication {
    /// Wants every activity of a declared type.
    public func shouldContinue(_ offer: Offer, from peer: RemotePeer) async -> Bool { true }

    /// Takes whatever the configuration lets peers send.
    public func shouldAccept(_ offer: Offer, from peer: RemotePeer) async -> Bool { true }

    /// Leaves the progress to the caller.
    @discardableResult
    public func willContinue(type: String, from peer: RemotePeer) async -> Bool { false }

    /// Leaves the error to the caller.
    public func didFailToContinue(type: String, error: HandoffError) async {}

    /// Keeps what was continued as it was.
    public func shouldUpdate(_ activity: ContinuedActivity) async -> Bool { false }

    /// Does nothing with it.
    public func didUpdate(_ activity: ContinuedActivity) async {}
}
