import FoundationEssentials
import HandoffModel
import HandoffSupport
import HandoffTestKit
import Testing

@testable import Handoff

@Suite("Changes of what was continued", .timeLimit(.minutes(1)))
struct UpdateTests {
    @Test("Who continued an activity gets its new state, where it wants it; others hear nothing")
    func follows() async throws {
        try await withPeers(3) { peers, _ in
            let (origin, target, other) = (peers[0], peers[1], peers[2])
            let text = LockedBox("first")
            await origin.app.whenSaving { activity in
                activity.addUserInfoEntries(["text": .string(text.withLock { $0 })])
            }
            await target.app.setFollowing(true)
            let activity = try origin.makeActivity()
            await activity.becomeCurrent()
            _ = try await other.candidate()
            _ = try await target.peer.continueActivity(target.candidate())
            #expect(await origin.isTold(.wasContinued))
            text.withLock { $0 = "second" }
            activity.needsSave = true
            #expect(await target.isTold(.updated(["text": "second"])))
            #expect(await target.app.events.suffix(2) == [.shouldUpdate, .updated(["text": "second"])])
            #expect(await other.app.events.isEmpty)
            #expect(await origin.app.events.count { $0 == .wasContinued } == 1, "to follow is not to continue again")
        }
    }

    @Test("An app that does not follow causes no fetch, and hears of the next change only after the next save")
    func asksFirst() async throws {
        try await withPeers(2) { peers, _ in
            let activity = try peers[0].makeActivity()
            await activity.becomeCurrent()
            _ = try await peers[1].peer.continueActivity(peers[1].candidate())
            #expect(await peers[0].isTold(.wasContinued))
            await peers[0].app.forget()
            activity.needsSave = true
            #expect(await peers[1].isTold(.shouldUpdate))
            for _ in 0..<10_000 { activity.needsSave = true }
            // Two round trips later nothing else has come.
            for title in ["a", "b"] {
                activity.title = title
                _ = try await peers[1].candidate(titled: title)
            }
            #expect(await peers[1].app.events.count { $0 == .shouldUpdate } == 1)
            #expect(await peers[0].app.events.isEmpty)
        }
    }

    @Test("However often the origin changes and is asked, updates go once a second")
    func isLimited() async throws {
        let clock = ManualClock()
        let network = LoopbackNetwork()
        let origin = try TestPeer(account.makeIdentity(), on: network, clock: clock.clock)
        let target = try TestPeer(account.makeIdentity(), on: network)
        // The worst of apps: each save asks for the next one.
        await origin.app.whenSaving { $0.needsSave = true }
        await target.app.setFollowing(true)
        let activity = try origin.makeActivity()
        await activity.becomeCurrent()
        _ = try await target.peer.continueActivity(target.candidate())
        #expect(await origin.isTold(.wasContinued))
        activity.title = "nudge"
        #expect(await target.isTold(.updated([:])))
        for count in 2...4 {
            // What was told to the other end before this is there, too.
            activity.title = "\(count)"
            _ = try await target.candidate(titled: "\(count)")
            #expect(await target.app.events.count { $0 == .updated([:]) } == count - 1)
            clock.advance(by: .seconds(1))
            #expect(await eventually { await target.app.events.count { $0 == .updated([:]) } == count })
        }
        await origin.stop()
        await target.stop()
    }

    @Test("An update by another peer than the origin, or of something that was not continued, is ignored")
    func ignoresOthers() async throws {
        try await withPeers(2) { peers, _ in
            let activity = try peers[0].makeActivity()
            await activity.becomeCurrent()
            _ = try await peers[1].peer.continueActivity(peers[1].candidate())
            let raw = try await RawPeer(peers[1], as: account.makeIdentity())
            try await raw.pair()
            try await raw.send(.update(activity: activity.id))
            try await raw.send(.update(activity: UUID()))
            try await raw.send(.fetch(request: 1, activity: UUID()))
            guard case .failure(1, _) = try await raw.nextButPings() else {
                return #expect(Bool(false), "no answer came")
            }
            #expect(await !peers[1].app.events.contains(.shouldUpdate))
        }
    }
}
