public import HandoffModel
public import HandoffTransport

/// What the app that made an activity is told of it.
public protocol UserActivityDelegate: AnyObject, Sendable {
    /// Fills in the state that is to travel: userInfo is empty, and what is added now is what the other device gets.
    ///
    /// Called before a payload leaves, where ``UserActivity/needsSave`` is true, never once a keystroke; it has 2 s.
    ///
    /// - Throws: Why the state cannot be saved; the peer that asked is told that it could not, and nothing travels.
    func userActivityWillSave(_ activity: UserActivity) async throws

    /// What was saved is about to be given to a device: what it may ask for next can be allowed now. It has 2 s.
    func userActivity(_ activity: UserActivity, willTravelTo peer: RemotePeer) async

    /// Another device goes on with the activity. It stays valid here; only an app whose activity must not live twice
    /// invalidates it now.
    func userActivityWasContinued(_ activity: UserActivity) async

    /// A device that fetched the activity has opened a stream, for what is too large for userInfo.
    ///
    /// Called where ``UserActivity/supportsContinuationStreams`` is true, beside the other callbacks, once for each
    /// stream, several at a time. The stream is closed in order when this returns, and cut off where the peer stops; an
    /// app that could not write all of it calls ``StreamConnection/abort()``, so that a part is not taken for the whole.
    ///
    /// - Parameters:
    ///   - activity: The activity.
    ///   - stream: Bytes both ways; ``StreamConnection/finish()`` tells the other end that all has been written.
    ///   - peer: Who has opened it.
    func userActivity(_ activity: UserActivity, didOpen stream: StreamConnection, for peer: RemotePeer) async
}

extension UserActivityDelegate {
    /// Does nothing about it.
    public func userActivity(_ activity: UserActivity, willTravelTo peer: RemotePeer) async {}

    /// Writes nothing.
    public func userActivity(_ activity: UserActivity, didOpen stream: StreamConnection, for peer: RemotePeer) async {}
}
