import FoundationEssentials
import HandoffDiscovery
import HandoffModel
import HandoffSupport
import HandoffTestKit
import HandoffTransport
import Testing

@testable import Handoff

@Suite("Start and stop", .timeLimit(.minutes(1)))
struct LifecycleTests {
    @Test("stop() says good-bye, and run() returns")
    func stops() async throws {
        let peer = try TestPeer(account.makeIdentity(), on: LoopbackNetwork())
        let raw = try await RawPeer(peer, as: account.makeIdentity())
        try await raw.pair()
        async let reason = raw.goodbye()
        await peer.peer.stop()
        let said = try await reason
        #expect(said == .leaving)
        try await peer.running.value
        await peer.peer.stop()
    }

    @Test("Cancelling the task that runs the peer ends its links")
    func cancels() async throws {
        try await withPeers(2) { peers, _ in
            #expect(await peers[0].isLinked())
            #expect(await peers[1].isLinked())
            peers[0].running.cancel()
            await #expect(throws: CancellationError.self) { try await peers[0].running.value }
            #expect(await eventually(peers[1].peer) { $0.links.isEmpty && $0.services.isEmpty })
            #expect(await peers[0].peer.links.isEmpty)
        }
    }

    @Test("A peer whose port is taken says so")
    func failsToListen() async throws {
        try await withPeers(1) { peers, _ in
            try #require(await eventually(peers[0].peer) { $0.announcedName != nil })
            let port = try #require(await peers[0].peer.port)
            let configuration = try HandoffConfiguration(
                app: "org.example.test",
                name: "",
                host: "",
                types: [],
                ports: port...port
            )
            let other = try HandoffPeer(
                configuration: configuration,
                identity: account.makeIdentity(),
                discovery: LoopbackDiscovery(network: LoopbackNetwork()),
                application: nil
            )
            await #expect(throws: TransportError(.portInUse)) { try await other.run() }
        }
    }

    @Test("A hundred rounds of starting, linking and stopping leave no descriptor and no peer behind")
    func leaksNothing() async {
        await #expect(processExitsWith: .success) {
            let identities = [try account.makeIdentity(), try account.makeIdentity()]
            var before = 0
            for round in 0..<100 {
                weak var left: HandoffPeer?
                do {
                    let network = LoopbackNetwork()
                    let peers = try identities.map { try TestPeer($0, on: network) }
                    left = peers[0].peer
                    if round % 2 == 0 { try #require(await peers[0].isLinked()) }
                    if round % 3 == 0 { peers[0].running.cancel() }
                    for peer in peers { await peer.stop() }
                }
                try #require(await eventually(within: .seconds(5)) { left == nil }, "round \(round) left its peer")
                // The first round leaves what Dispatch keeps: its epoll and timer descriptors.
                if round == 1 { before = try await settledDescriptors() }
            }
            let after = try await settledDescriptors()
            try #require(after <= before, "\(after) descriptors instead of \(before)")
        }
    }
}

/// How many descriptors the process has open once the count has stood still for a while.
private func settledDescriptors() async throws -> Int {
    var counts: [Int] = []
    _ = await eventually {
        counts.append((try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count) ?? 0)
        return counts.count > 60 && Set(counts.suffix(60)).count == 1
    }
    return counts.last ?? 0
}
