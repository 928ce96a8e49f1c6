import FoundationEssentials
import HandoffDiscovery
import HandoffModel
import HandoffSupport
import HandoffTestKit
import HandoffTransport
import Testing

@testable import Handoff

/// The account that most tests use; making keys costs more than the tests.
let account = TestAccount()

/// Runs a test with peers of one account that are stopped afterwards, whatever happens.
func withPeers(
    _ count: Int,
    clock: MonotonicClock = .system,
    _ body: (_ peers: [TestPeer], _ network: LoopbackNetwork) async throws -> Void
) async throws {
    let network = LoopbackNetwork()
    let peers = try (0..<count).map {
        try TestPeer(account.makeIdentity(), on: network, name: "host\($0)", clock: clock)
    }
    do {
        try await body(peers, network)
    } catch {
        for peer in peers { await peer.stop() }
        throw error
    }
    for peer in peers { await peer.stop() }
}

extension TestPeer {
    /// Waits until it is paired with so many peers, over one link each, and with nobody else.
    func isLinked(to count: Int = 1) async -> Bool {
        await eventually(peer) { $0.links.count == count && $0.linkedPeers().count == count }
    }

    /// Waits for an offer of somebody and returns it.
    func candidate(titled title: String = "Note") async throws -> Candidate {
        let isOffered = await eventually(peer) { peer in
            peer.linkedPeers().contains { peer.links[$0.link.id]?.offers.first?.title == title }
        }
        try #require(isOffered, "\(title) is not offered")
        return try #require(await peer.candidates().first { $0.offer.title == title })
    }

    /// Waits until its app was told something.
    func isTold(_ event: TestApp.Event) async -> Bool { await eventually { await app.events.contains(event) } }

    /// Waits for a line of its log.
    func logs(_ text: String) async -> Bool { await eventually { log.contains { $0.contains(text) } } }
}

/// The other end of a link, made by hand: it does only what a test says.
final class RawPeer {
    let connection: Connection
    private var decoder = FrameDecoder()

    /// Dials a peer.
    init(_ target: TestPeer, as identity: Identity, context: TLSContext? = nil, discoveryKey: [UInt8]? = nil)
        async throws
    {
        try #require(await eventually(target.peer) { $0.announcedName != nil })
        let port = try #require(await target.peer.port)
        connection = try await Dialler.dial(
            [try #require(SocketAddress(numeric: "127.0.0.1", port: port))],
            applicationProtocol: "handoff/1",
            context: context ?? TLSContext(identity: identity),
            discoveryKey: discoveryKey
        )
    }

    func send(_ message: Message) async throws {
        try await connection.write(Frame.encode(message.encoded()))
    }

    func send(_ fields: [String: PropertyList]) async throws {
        try await connection.write(Frame.encode(BinaryPropertyList.encode(.dictionary(fields))))
    }

    /// The next message; nil at the end of the connection.
    func next() async throws -> Message? {
        while true {
            if let body = try decoder.next() {
                guard case .known(let message) = ReceivedMessage(body: body) else {
                    throw HandoffError(.handoffFailed, "an unknown message came")
                }
                return message
            }
            guard let bytes = try await connection.read() else { return nil }
            decoder.append(bytes)
        }
    }

    /// The next message that is no ping; pings are answered.
    func nextButPings() async throws -> Message? {
        while true {
            let message = try await next()
            guard case .ping(let sequence) = message else { return message }
            try await send(.pong(sequence: sequence))
        }
    }

    /// Greets, as the dialler.
    @discardableResult
    func pair(instance: InstanceID? = nil, versions: String = "1", isVisitor: Bool = false) async throws -> [Offer] {
        guard case .hello = try await next() else { throw HandoffError(.notPaired, "no hello came first") }
        var generator = SystemRandomNumberGenerator()
        let hello = Hello(
            versions: try #require(ProtocolVersions(versions)),
            instance: instance ?? InstanceID(using: &generator),
            app: "org.example.raw",
            name: "raw",
            host: "raw",
            isVisitor: isVisitor,
            types: [TestPeer.type],
            service: nil
        )
        try await send(.hello(hello))
        let answer = try await next()
        guard case .offers(let offers) = answer else {
            if case .bye(.refused(let failure)) = answer { throw failure }
            throw HandoffError(.notPaired, "instead of offers came \(String(describing: answer))")
        }
        return offers
    }

    /// Reads until the good-bye.
    func goodbye() async throws -> ByeReason? {
        while let message = try await next() {
            if case .bye(let reason) = message { return reason }
        }
        return nil
    }
}
