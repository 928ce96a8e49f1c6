public import FoundationEssentials
public import Handoff
public import HandoffDiscovery
public import HandoffModel
public import HandoffSupport
public import HandoffTransport

/// A peer that runs in a test, with its app and its log.
public struct TestPeer: Sendable {
    /// The activity type of test peers that have no others.
    public static let type = "org.example.test.note"

    /// The peer.
    public let peer: HandoffPeer
    /// Its app.
    public let app: TestApp
    /// Its `run()`; cancelling it cancels that.
    public let running: Task<Void, any Error>
    private let lines: LockedBox<[String]>

    /// Starts a peer on a free port of the loopback interface.
    ///
    /// - Parameters:
    ///   - identity: Its certificate and keys.
    ///   - network: Those on the same network find each other.
    ///   - name: Its name and its host's.
    ///   - isVisitor: Whether it links for a moment only.
    ///   - octets: The address at which others are told to dial it.
    ///   - types: The activity types that it continues.
    ///   - createdTypes: Those that it makes; nil where they are the same.
    ///   - contentVersions: The version of the content for each type that has had more than one.
    ///   - sendPolicy: From whom it takes what is sent to it.
    ///   - places: Where it looks for peers besides.
    ///   - knownPeers: Where it keeps the addresses of paired machines.
    ///   - localPeers: Where programs on this machine ask what it sees.
    ///   - port: Its port; 0 for a free one.
    ///   - clock: What its deadlines are measured by.
    ///   - wallClock: What expiration dates are compared with.
    public init(
        _ identity: Identity,
        on network: LoopbackNetwork,
        name: String = "test",
        isVisitor: Bool = false,
        octets: [UInt8] = [127, 0, 0, 1],
        types: [String] = [type],
        createdTypes: [String]? = nil,
        contentVersions: [String: ContentVersion] = [:],
        sendPolicy: SendPolicy = .anyPeer,
        places: [NetworkPlace] = [],
        knownPeers: KnownPeersFile? = nil,
        localPeers: LocalPeers? = nil,
        port: UInt16 = 0,
        clock: MonotonicClock = .system,
        wallClock: @escaping @Sendable () -> Date = { Date() }
    ) throws {
        let (app, lines) = (TestApp(), LockedBox<[String]>([]))
        let configuration = try HandoffConfiguration(
            app: "org.example.test",
            name: name,
            host: name,
            types: types,
            createdTypes: createdTypes,
            contentVersions: contentVersions,
            sendPolicy: sendPolicy,
            ports: port...port,
            places: places,
            isVisitor: isVisitor
        )
        let peer = try HandoffPeer(
            configuration: configuration,
            identity: identity,
            discovery: LoopbackDiscovery(network: network, hostName: "\(name).local", octets: octets),
            application: app,
            knownPeers: knownPeers,
            localPeers: localPeers,
            clock: clock,
            wallClock: wallClock,
            log: Log { level, message, metadata in
                let line = "\(level): \(message)" + metadata.map { " \($0.key)=\($0.value)" }.joined()
                lines.withLock { $0.append(line) }
            }
        )
        (self.app, self.lines, self.peer) = (app, lines, peer)
        running = Task { try await peer.run() }  // stop() ends it
    }

    /// What it logged.
    public var log: [String] { lines.withLock { $0 } }

    /// Makes an activity of its app.
    public func makeActivity(_ title: String = "Note") throws -> UserActivity {
        try peer.makeActivity(type: Self.type, title: title, delegate: app)
    }

    /// Stops it and waits until `run()` has returned.
    public func stop() async {
        await peer.stop()
        _ = try? await running.value
    }
}
