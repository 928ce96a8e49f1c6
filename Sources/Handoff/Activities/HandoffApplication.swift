public import FoundationEssentials
public import HandoffModel

/// An activity of another device, with the state that its app saved.
public struct ContinuedActivity: Sendable, Hashable {
    /// The activity's id at its origin.
    public let id: UUID
    /// Its reverse-DNS type.
    public let type: String
    /// Its title; it comes from a peer and may hold anything.
    public let title: String
    /// What the origin's app saved; any key may be missing or of another type.
    public let userInfo: [String: PropertyList]
    /// Where it came from.
    public let origin: RemotePeer

    init(payload: ActivityPayload, origin: RemotePeer) {
        id = payload.id
        type = payload.type
        title = payload.title
        userInfo = payload.userInfo
        self.origin = origin
    }
}

/// An app that continues activities; its callbacks come one at a time.
///
/// Once the user accepts: ``shouldContinue(_:from:)``, ``willContinue(type:from:)``, then exactly one of
/// ``continueActivity(_:)`` and ``didFailToContinue(type:error:)``. Each has 30 s. An actor gets them on its own executor.
public protocol HandoffApplication: AnyObject, Sendable {
    /// Asks whether the app wants the activity at all.
    ///
    /// - Returns: False to refuse it; nothing is fetched then, and no other callback follows.
    func shouldContinue(_ offer: Offer, from peer: RemotePeer) async -> Bool

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
}

extension HandoffApplication {
    /// Wants every activity of a declared type.
    public func shouldContinue(_ offer: Offer, from peer: RemotePeer) async -> Bool { true }

    /// Leaves the progress to the caller.
    @discardableResult
    public func willContinue(type: String, from peer: RemotePeer) async -> Bool { false }

    /// Leaves the error to the caller.
    public func didFailToContinue(type: String, error: HandoffError) async {}
}
