import CommandLineKit
import FoundationEssentials
import Handoff

/// What a machine can hand to another.
enum ContactActivity: String, CaseIterable {
    case view = "org.handoff.contacts.view"
    case edit = "org.handoff.contacts.edit"

    var title: String { self == .view ? "Contact" : "New contact" }
}

/// The app as a peer, for as long as one command runs.
enum ContactsPeer {
    /// Offers a contact to the other machines while something goes on here.
    ///
    /// - Parameters:
    ///   - peer: The app here; runs meanwhile.
    ///   - contact: Gives the contact; asked when a peer takes it, if it needs to be saved.
    ///   - body: What goes on. The activity ends with it, and needs to be saved where it changes the contact.
    static func offering(
        _ kind: ContactActivity,
        on peer: HandoffPeer,
        _ contact: @escaping @Sendable () -> Contact,
        while body: @escaping @Sendable (UserActivity) async throws -> Void
    ) async throws {
        let saver = StateSaver(contact)
        // The activity holds its delegate weakly.
        defer { withExtendedLifetime(saver) {} }
        let activity = try peer.makeActivity(type: kind.rawValue, title: kind.title, delegate: saver)
        try await peer.whileRunning {
            await activity.becomeCurrent()
            do {
                try await body(activity)
            } catch {
                await activity.invalidate()
                throw error
            }
            await activity.invalidate()
        }
    }

    /// Looks around, and takes over what the nearest machine offers.
    ///
    /// - Parameter host: The only machine to take it from; nil for any.
    static func continueNearest(from host: String?) async throws -> (kind: ContactActivity, contact: Contact) {
        let checker = Checker()
        defer { withExtendedLifetime(checker) {} }
        let peer = try make(isVisitor: true, application: checker)
        let continuation = try await peer.whileRunning {
            try await peer.lookAround(atMost: .seconds(4))
            return try await peer.continueNearest { host == nil || $0.peer.hello.host == host }
        }
        return try Checker.read(continuation.activity)
    }

    /// Makes a peer that does nothing yet.
    static func make(isVisitor: Bool = false, application: (any HandoffApplication)? = nil) throws -> HandoffPeer {
        let paths = try HandoffPaths(environment: ProcessInfo.processInfo.environment)
        let log = Log.lines(from: .warning) { StandardError.write("contacts: \(printable($0))\n") }
        let identity = try Identity.load(directory: paths.configuration + "/identity")
        return try HandoffPeer(
            configuration: HandoffConfiguration(
                app: "org.handoff.contacts",
                name: "contacts",
                host: hostName(),
                types: ContactActivity.allCases.map(\.rawValue),
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

/// Puts what has been typed so far into an activity that a peer takes.
private final class StateSaver: UserActivityDelegate {
    private let contact: @Sendable () -> Contact

    init(_ contact: @escaping @Sendable () -> Contact) { self.contact = contact }

    func userActivityWillSave(_ activity: UserActivity) async {
        activity.addUserInfoEntries(contact().userInfo)
    }

    /// The entry stays here, too, until it is saved or left.
    func userActivityWasContinued(_ activity: UserActivity) async {}
}

/// Sees to it that the origin is not told that a contact goes on here which cannot be read.
private final class Checker: HandoffApplication {
    func continueActivity(_ activity: ContinuedActivity) async throws { _ = try Self.read(activity) }

    static func read(_ activity: ContinuedActivity) throws -> (kind: ContactActivity, contact: Contact) {
        guard let kind = ContactActivity(rawValue: activity.type) else {
            throw HandoffError(.invalidActivity, "this app does not know activities of the type \(activity.type)")
        }
        return (kind, try Contact(activity.userInfo))
    }
}
