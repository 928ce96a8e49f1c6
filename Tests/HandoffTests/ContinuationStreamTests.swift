import FoundationEssentials
import HandoffModel
import HandoffSupport
import HandoffTestKit
import HandoffTransport
import Testing

@testable import Handoff

@Suite("Streams of an activity", .timeLimit(.minutes(1)))
struct ContinuationStreamTests {
    /// An activity whose app writes a text and sends back what it is told.
    private func withStreams(
        supports: Bool = true,
        _ body: (_ origin: TestPeer, _ target: TestPeer, _ activity: ContinuedActivity) async throws -> Void
    ) async throws {
        try await withPeers(2) { peers, _ in
            let activity = try peers[0].makeActivity()
            activity.supportsContinuationStreams = supports
            await peers[0].app.whenStreaming { stream in
                try await stream.write(Array("hello ".utf8))
                while let byte = try await stream.read(exactly: 1) { try await stream.write(byte) }
            }
            await activity.becomeCurrent()
            let candidate = try await peers[1].candidate()
            try await body(peers[0], peers[1], try await peers[1].peer.continueActivity(candidate))
        }
    }

    private func readAll(_ stream: StreamConnection) async throws -> String {
        var text: [UInt8] = []
        while let byte = try await stream.read(exactly: 1) { text += byte }
        return String(decoding: text, as: UTF8.self)
    }

    @Test("Both apps get their end: bytes both ways, each way ends by itself")
    func bothWays() async throws {
        try await withStreams { origin, target, activity in
            let stream = try await target.peer.openStream(of: activity)
            try await stream.write(Array("world".utf8))
            try await stream.finish()
            #expect(try await readAll(stream) == "hello world")
            await stream.close()
            #expect(await eventually(origin.peer) { $0.servedStreams.isEmpty })
        }
    }

    @Test("An activity without streams says so at either end")
    func unsupported() async throws {
        try await withStreams(supports: false) { origin, target, activity in
            await #expect(throws: HandoffError(.streamsUnsupported, "")) {
                try await target.peer.openStream(of: activity)
            }
            await #expect(throws: HandoffError(.streamsUnsupported, "")) {
                try await target.peer.openStream(.activity(activity.id), from: origin.peer.id)
            }
        }
    }

    @Test("Only who fetched the activity gets a stream, and not of one that is over")
    func onlyFetchers() async throws {
        try await withStreams { origin, target, activity in
            let raw = try await RawPeer(origin, as: account.makeIdentity())
            try await raw.pair()
            try await raw.send(.openStream(request: 1, .activity(activity.id)))
            guard case .failure(1, HandoffError(.handoffFailed, "")) = try await raw.nextButPings() else {
                return #expect(Bool(false), "somebody else got a ticket")
            }
            await origin.peer.current?.invalidate()
            await #expect(throws: HandoffError(.handoffFailed, "")) {
                try await target.peer.openStream(of: activity)
            }
        }
    }

    @Test("A token is good once, and for the certificate that it was given to")
    func tokens() async throws {
        try await withStreams { origin, target, activity in
            let ticket = try await target.peer.ticket(for: activity)
            func show(_ token: StreamToken, as identity: Identity) async throws -> [UInt8]? {
                let address = try #require(SocketAddress(numeric: "127.0.0.1", port: ticket.port))
                let connection = try await Dialler.dial(
                    [address],
                    applicationProtocol: HandoffPeer.streamProtocol,
                    context: TLSContext(identity: identity)
                )
                let stream = try await connection.makeStream()
                defer { stream.abort() }
                try await stream.write(StreamFrame.opening(token))
                return try await stream.read(exactly: 5)
            }
            let other = try account.makeIdentity()
            await #expect(throws: TransportError(.truncated)) { try await show(ticket.token, as: other) }
            #expect(try await show(ticket.token, as: target.peer.identity) == Array("hello".utf8))
            await #expect(throws: TransportError(.truncated)) {
                try await show(ticket.token, as: target.peer.identity)
            }
            var generator = SystemRandomNumberGenerator()
            let invented = StreamToken(using: &generator)
            await #expect(throws: TransportError(.truncated)) {
                try await show(invented, as: target.peer.identity)
            }
            #expect(await origin.logs("without a token that is good"))
        }
    }

    @Test("A stream that says nothing, or no token, is ended")
    func silence() async throws {
        try await withStreams { origin, target, _ in
            let port = try #require(await origin.peer.port)
            for bytes: [UInt8] in [[0, 0, 0, 3, 1, 2, 3], [0xff, 0xff, 0xff, 0xff], [0, 0, 0, 0]] {
                let connection = try await Dialler.dial(
                    [try #require(SocketAddress(numeric: "127.0.0.1", port: port))],
                    applicationProtocol: HandoffPeer.streamProtocol,
                    context: TLSContext(identity: target.peer.identity)
                )
                let stream = try await connection.makeStream()
                try await stream.write(bytes)
                await #expect(throws: TransportError(.truncated)) { try await stream.read(exactly: 1) }
            }
        }
    }

    @Test("32 streams of one peer at once, and 200 in a row, leave nothing behind")
    func many() async throws {
        try await withStreams { origin, target, activity in
            try await withThrowingTaskGroup(of: String.self) { group in
                for number in 0..<32 {
                    group.addTask {
                        let stream = try await target.peer.openStream(of: activity)
                        try await stream.write(Array("\(number)".utf8))
                        try await stream.finish()
                        return try await self.readAll(stream)
                    }
                }
                let texts = try await group.reduce(into: Set<String>()) { $0.insert($1) }
                #expect(texts == Set((0..<32).map { "hello \($0)" }))
            }
            for _ in 0..<200 {
                let stream = try await target.peer.openStream(of: activity)
                try await stream.finish()
                #expect(try await readAll(stream) == "hello ")
                await stream.close()
            }
            #expect(await eventually(origin.peer) { $0.servedStreams.isEmpty })
        }
    }

    @Test("An app that ends early, and a peer that stops, cut the stream off: never a short success")
    func cutOff() async throws {
        try await withStreams { origin, target, activity in
            let stream = try await target.peer.openStream(of: activity)
            #expect(try await stream.read(exactly: 6) != nil)
            await origin.peer.stop()
            await #expect(throws: TransportError(.truncated)) { try await stream.read(exactly: 1) }
        }
    }

    @Test("A visitor that sends an activity gives its streams, too")
    func visitor() async throws {
        let network = LoopbackNetwork()
        let target = try TestPeer(account.makeIdentity(), on: network)
        let visitor = try TestPeer(account.makeIdentity(), on: network, isVisitor: true)
        #expect(await visitor.isLinked())
        await visitor.app.whenStreaming { try await $0.write(Array("large".utf8)) }
        let text = LockedBox("")
        await target.app.whenRestoring { [peer = target.peer, app = target.app] in
            let activity = try #require(await app.activities.last)
            let stream = try await peer.openStream(of: activity)
            var bytes: [UInt8] = []
            while let byte = try await stream.read(exactly: 1) { bytes += byte }
            let read = String(decoding: bytes, as: UTF8.self)
            text.withLock { $0 = read }
        }
        let activity = try visitor.makeActivity()
        activity.supportsContinuationStreams = true
        try await visitor.peer.send(activity, to: target.peer.id)
        #expect(text.withLock { $0 } == "large")
        await visitor.stop()
        await target.stop()
    }
}

extension HandoffPeer {
    fileprivate func ticket(for activity: ContinuedActivity) async throws -> StreamTicket {
        guard
            case .stream(_, let ticket) = try await ask(
                activity.origin.id,
                { .openStream(request: $0, .activity(activity.id)) }
            )
        else { throw HandoffError(.handoffFailed, "no ticket came") }
        return ticket
    }
}
