import FoundationEssentials
import HandoffModel
import HandoffSupport
import HandoffTestKit
import Testing

@testable import Handoff
@testable import HandoffTransport

@Suite("A hostile peer of the account", .timeLimit(.minutes(1)))
struct HostileTests {
    /// Bytes that break the protocol on a paired link.
    static let breaches: [(name: String, bytes: [UInt8])] = [
        ("a frame of 4 GiB", [0xff, 0xff, 0xff, 0xff]),
        ("a frame of 1 MiB and a byte", [0x00, 0x10, 0x00, 0x01]),
        ("an empty frame", [0, 0, 0, 0]),
        ("no property list", [0, 0, 0, 4] + Array("GET ".utf8)),
        ("a second hello", frame(["kind": .string("hello")])),
        ("a fetch without an activity", frame(["kind": .string("fetch"), "request": .integer(1)])),
        ("a kind of 65 bytes", frame(["kind": .string(String(repeating: "k", count: 65))])),
        ("17 offers", frame(["kind": .string("offers"), "offers": .array(Array(repeating: .integer(0), count: 17))])),
        ("arrays nested 1,000 deep", nestedFrame(depth: 1000)),
    ]

    @Test("A breach of the protocol ends that link with the reason, and no other", arguments: breaches.indices)
    func endsLink(_ index: Int) async throws {
        try await withPeers(2) { peers, _ in
            #expect(await peers[0].isLinked())
            let raw = try await RawPeer(peers[0], as: account.makeIdentity())
            try await raw.pair()
            try await raw.connection.write(Self.breaches[index].bytes)
            #expect(try await raw.goodbye() == .refused(.protocolViolation))
            #expect(await peers[0].isLinked())
        }
    }

    @Test("A message before hello is a breach")
    func endsUnpairedLink() async throws {
        try await withPeers(1) { peers, _ in
            let raw = try await RawPeer(peers[0], as: account.makeIdentity())
            try await raw.send(.ping(sequence: 1))
            #expect(try await raw.goodbye() == .refused(.protocolViolation))
            #expect(await peers[0].logs("reason=protocolViolation"))
        }
    }

    @Test("Unknown kinds are answered, unknown requests and answers ignored")
    func toleratesTheUnknown() async throws {
        try await withPeers(1) { peers, _ in
            let raw = try await RawPeer(peers[0], as: account.makeIdentity())
            try await raw.pair()
            try await raw.send(["kind": .string("teleport"), "request": .integer(.max)])
            #expect(try await raw.nextButPings() == .unsupported(request: .max, kind: "teleport"))
            try await raw.send(.failure(request: .min, HandoffError(.handoffFailed, "nobody asked")))
            try await raw.send(.pong(sequence: .min))
            try await raw.send(.continued(activity: UUID()))
            try await raw.send(.unsupported(request: nil, kind: "offers"))
            try await raw.send(.ping(sequence: .max))
            #expect(try await raw.nextButPings() == .pong(sequence: .max))
            try await raw.send(.fetch(request: .min, activity: UUID()))
            guard case .failure(.min, let error) = try await raw.nextButPings() else {
                return #expect(Bool(false), "no failure came")
            }
            #expect(error.code == .handoffFailed)
        }
    }

    @Test("Of a thousand fetches at once a few are served, the others refused, and a neighbour notices nothing")
    func limitsFetches() async throws {
        try await withPeers(2) { peers, _ in
            let gate = Gate()
            let activity = try peers[0].makeActivity()
            await activity.becomeCurrent()
            #expect(await peers[0].isTold(.save([:])))
            _ = try await peers[1].candidate()
            await peers[0].app.whenSaving { _ in await gate.pass() }
            activity.needsSave = true
            let raw = try await RawPeer(peers[0], as: account.makeIdentity())
            try await raw.pair()
            let fetches = try (0..<1000).flatMap { request in
                try Frame.encode(Message.fetch(request: request, activity: activity.id).encoded())
            }
            try await raw.connection.write(fetches)
            var (refused, answered) = (0, 0)
            while refused + answered < 1000, let message = try await raw.nextButPings() {
                if case .failure(_, let error) = message, error.code == .refused {
                    refused += 1
                } else {
                    answered += 1
                }
                if refused == 100 { gate.open() }
            }
            #expect(refused + answered == 1000)
            #expect(answered >= 8)
            #expect(gate.arrivals == 1)
            let candidate = try await peers[1].candidate()
            _ = try await peers[1].peer.continueActivity(candidate)
        }
    }

    @Test("A peer that never reads does not hold up stop()")
    func stopsBesideStuckPeer() async throws {
        try await withPeers(1) { peers, _ in
            let raw = try await RawPeer(peers[0], as: account.makeIdentity())
            try await raw.pair()
            #expect(await peers[0].isLinked())
            await peers[0].app.whenSaving { $0.userInfo["text"] = .data(Data(count: 60 * 1024)) }
            let activity = try peers[0].makeActivity()
            await activity.becomeCurrent()
            // Answers pile up until the peer stops reading, whereupon these writes stall in their turn.
            let flood = Task {
                while true { try await raw.send(.fetch(request: 1, activity: activity.id)) }
            }
            let link = try #require(await peers[0].peer.soleLink)
            #expect(await eventually { await link.connection.pendingOutput >= Connection.highWater })
            let limit = TransportError(.timedOut)
            try await withDeadline(.seconds(10), clock: .system, timeoutError: limit) { await peers[0].stop() }
            flood.cancel()
            raw.connection.abort()
            _ = try? await flood.value
        }
    }

    private static func frame(_ fields: [String: PropertyList]) -> [UInt8] {
        (try? Frame.encode(BinaryPropertyList.encode(.dictionary(fields)))) ?? []
    }

    /// A bplist00 of arrays within arrays, which the writer refuses to make.
    private static func nestedFrame(depth: Int) -> [UInt8] {
        var bytes = Array("bplist00".utf8)
        var offsets: [Int] = []
        for level in 0..<depth {
            offsets.append(bytes.count)
            let next = min(level + 1, depth - 1)
            bytes += level == depth - 1 ? [0x08] : [0xa1, UInt8(next >> 8), UInt8(next & 0xff)]
        }
        let table = bytes.count
        for offset in offsets { bytes += [UInt8(offset >> 8), UInt8(offset & 0xff)] }
        bytes += [0, 0, 0, 0, 0, 0, 2, 2]
        for number in [depth, 0, table] {
            bytes += (0..<8).reversed().map { UInt8(truncatingIfNeeded: number >> ($0 * 8)) }
        }
        return (try? Frame.encode(bytes)) ?? []
    }
}
