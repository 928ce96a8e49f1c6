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
