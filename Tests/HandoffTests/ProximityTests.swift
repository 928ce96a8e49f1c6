import HandoffModel
import HandoffSupport
import HandoffTestKit
import Testing

@testable import Handoff

@Suite("Proximity of linked peers", .timeLimit(.minutes(1)))
struct ProximityTests {
    @Test("Only who offers something is measured by bursts, and by nobody once the offer is gone")
    func offering() async throws {
        try await withPeers(3) { peers, _ in
            for peer in peers { #expect(await peer.isLinked(to: 2)) }
            #expect(await peers[0].peer.ranking().allSatisfy { !$0.sample.isMeasured })
            let activity = try peers[1].makeActivity()
            await activity.becomeCurrent()
            #expect(await eventually { await peers[0].peer.ranking().contains { $0.sample.isMeasured } })
            let measured = await peers[0].peer.ranking().filter(\.sample.isMeasured)
            #expect(measured.map(\.sample.peer) == [peers[1].peer.id])
            #expect(await peers[1].peer.ranking().allSatisfy { !$0.sample.isMeasured })
            await activity.invalidate()
            #expect(await eventually { await peers[0].peer.ranking().allSatisfy { !$0.sample.isMeasured } })
        }
    }

    @Test("A visitor measures all it links to before it says that it has looked around")
    func visitor() async throws {
        try await withPeers(3) { peers, network in
            for peer in peers { #expect(await peer.isLinked(to: 2)) }
            let visitor = try TestPeer(account.makeIdentity(), on: network, isVisitor: true)
            // As long as it takes on a busy machine; the limit of the measuring is its own.
            try await visitor.peer.lookAround(atMost: .seconds(20))
            #expect(await eventually { await visitor.peer.ranking().filter(\.sample.isMeasured).count == 3 })
            let statuses = await visitor.peer.peers()
            #expect(statuses.compactMap(\.nearness).count == 3)
            #expect(statuses.allSatisfy { $0.latency != nil })
            await visitor.stop()
        }
    }

    @Test("A continuation tells why its peer was chosen: the only one, then one of two")
    func reason() async throws {
        try await withPeers(3) { peers, _ in
            for peer in peers { #expect(await peer.isLinked(to: 2)) }
            let first = try peers[1].makeActivity("first")
            await first.becomeCurrent()
            _ = try await peers[0].candidate(titled: "first")
            #expect(try await peers[0].peer.continueNearest().nearness?.reason == .only)
            let second = try peers[2].makeActivity("second")
            await second.becomeCurrent()
            _ = try await peers[0].candidate(titled: "second")
            let nearness = try #require(try await peers[0].peer.continueNearest().nearness)
            #expect(nearness.reason != .only)
            #expect(nearness.sample.latency != nil)
        }
    }
}
