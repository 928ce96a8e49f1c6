import CommandLineKit
import FoundationEssentials
import Handoff

/// The app as a peer, for as long as one command runs.
enum ShoppingPeer {
    /// Offers an activity to the other machines while something goes on here.
    ///
    /// - Parameters:
    ///   - state: Gives what is handed over; asked anew each time that a peer takes it.
    ///   - body: What goes on; the activity ends with it.
    static func offering<Result: Sendable>(
        _ state: @escaping @Sendable () throws -> ShoppingActivity,
        while body: @escaping @Sendable () async throws -> Result
    ) async throws -> Result {
        let peer = try makePeer()
        let saver = StateSaver(state)
        // The activity holds its delegate weakly.
        defer { withExtendedLifetime(saver) {} }
        let first = try state()
        let activity = try peer.makeActivity(type: first.type, title: first.title, delegate: saver)
        return try await peer.whileRunning {
            await activity.becomeCurrent()
            let result = try await body()
            await activity.invalidate()
            return result
        }
    }

    /// Looks around, and takes over what the nearest machine offers.
    ///
    /// - Parameters:
    ///   - host: The only machine to take it from; nil for any.
    ///   - restore: Restores it; what it throws ends the continuation.
    static func continueNearest(
        from host: String?,
        restore: @escaping @Sendable (ShoppingActivity) throws -> Void
    ) async throws -> ShoppingActivity {
        let application = Restorer(restore)
        defer { withExtendedLifetime(application) {} }
        let peer = try makePeer(isVisitor: true, application: application)
        let continuation = try await peer.whileRunning {
            try await peer.lookAround(atMost: .seconds(4))
            return try await peer.continueNearest { host == nil || $0.peer.hello.host == host }
        }
        return try ShoppingActivity(type: continuation.activity.type, userInfo: continuation.activity.userInfo)
    }

    private static func makePeer(
        isVisitor: Bool = false,
        application: (any HandoffApplication)? = nil
    ) throws -> HandoffPeer {
        let paths = try HandoffPaths(environment: ProcessInfo.processInfo.environment)
        let log = Log.lines(from: .warning) { StandardError.write("shopping: \(printable($0))\n") }
        return try HandoffPeer(
            configuration: HandoffConfiguration(
                app: "org.handoff.shopping",
                name: "shopping",
                host: hostName(),
                types: [ShoppingActivity.viewType, ShoppingActivity.editType],
                isVisitor: isVisitor
            ),
            identity: Identity.load(directory: paths.configuration + "/identity"),
            discovery: AvahiDiscovery(type: HandoffConfiguration.serviceType, log: log),
            application: application,
            log: log
        )
    }
}

/// Puts the newest state into an activity that a peer takes.
private final class StateSaver: UserActivityDelegate {
    private let state: @Sendable () throws -> ShoppingActivity

    init(_ state: @escaping @Sendable () throws -> ShoppingActivity) { self.state = state }

    func userActivityWillSave(_ activity: UserActivity) async throws {
        activity.addUserInfoEntries(try state().userInfo)
        // Setting it is cheap, and so the next peer gets what is true by then: the list may change in another terminal.
        activity.needsSave = true
    }

    /// Two live copies of a list do no harm.
    func userActivityWasContinued(_ activity: UserActivity) async {}
}

/// Restores what was taken over, before its origin is told that it goes on here.
private final class Restorer: HandoffApplication {
    private let restore: @Sendable (ShoppingActivity) throws -> Void

    init(_ restore: @escaping @Sendable (ShoppingActivity) throws -> Void) { self.restore = restore }

    func continueActivity(_ activity: ContinuedActivity) async throws {
        try restore(ShoppingActivity(type: activity.type, userInfo: activity.userInfo))
    }
}
