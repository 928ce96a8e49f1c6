import CommandLineKit
import FoundationEssentials
import Handoff

/// The app as a peer, for as long as one command runs.
enum ShoppingPeer {
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
        // The peer holds its application weakly.
        defer { withExtendedLifetime(application) {} }
        let peer = try make(isVisitor: true, application: application)
        let continuation = try await peer.whileRunning {
            try await peer.lookAround(atMost: .seconds(4))
            return try await peer.continueNearest { host == nil || $0.peer.hello.host == host }
        }
        return try ShoppingActivity(type: continuation.activity.type, userInfo: continuation.activity.userInfo)
    }

    /// Makes a peer that does nothing yet.
    static func make(isVisitor: Bool = false, application: (any HandoffApplication)? = nil) throws -> HandoffPeer {
        let paths = try HandoffPaths(environment: ProcessInfo.processInfo.environment)
        let log = Log.lines(from: .warning) { StandardError.write("shopping: \(printable($0))\n") }
        let identity = try Identity.load(directory: paths.configuration + "/identity")
        return try HandoffPeer(
            configuration: HandoffConfiguration(
                app: "org.handoff.shopping",
                name: "shopping",
                host: hostName(),
                types: [ShoppingActivity.viewType, ShoppingActivity.editType],
                isVisitor: isVisitor
            ),
            identity: identity,
            discovery: AvahiDiscovery(type: HandoffConfiguration.serviceType, log: log),
            application: application,
            knownPeers: KnownPeersFile(directory: paths.state, identity: identity),
            localPeers: LocalPeers(runtimeDirectory: paths.runtime),
            log: log
        )
    }
}

/// Restores what was taken over, before its origin is told that it goes on here.
private final class Restorer: HandoffApplication {
    private let restore: @Sendable (ShoppingActivity) throws -> Void

    init(_ restore: @escaping @Sendable (ShoppingActivity) throws -> Void) { self.restore = restore }

    func continueActivity(_ activity: ContinuedActivity) async throws {
        try restore(ShoppingActivity(type: activity.type, userInfo: activity.userInfo))
    }
}
