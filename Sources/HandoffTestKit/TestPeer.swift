public import Handoff
public import HandoffDiscovery
public import HandoffSupport
public import HandoffTransport

/// A peer that runs in a test, with its app and its log.
public struct TestPeer: Sendable {
    /// The one activity type of all test peers.
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
    ///   - clock: What its deadlines are measured by.
    public init(
        _ identity: Identity,
        on network: LoopbackNetwork,
        name: String = "test",
        isVisitor: Bool = false,
        octets: [UInt8] = [127, 0, 0, 1],
        clock: MonotonicClock = .system
    ) throws {
        let (app, lines) = (TestApp(), LockedBox<[String]>([]))
        let configuration = try HandoffConfiguration(
            app: "org.example.test",
            name: name,
            host: name,
            types: [Self.type],
            ports: 0...0,
            isVisitor: isVisitor
        )
        let peer = try HandoffPeer(
            configuration: configuration,
            identity: identity,
            discovery: LoopbackDiscovery(network: network, hostName: "\(name).local", octets: octets),
            application: app,
            clock: clock,
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
