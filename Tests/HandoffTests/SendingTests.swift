import FoundationEssentials
import HandoffModel
import HandoffSupport
import HandoffTestKit
import Testing

@testable import Handoff

@Suite("Sending an activity to one peer", .timeLimit(.minutes(1)))
struct SendingTests {
    @Test("It is restored there before the sender goes on, though it is not current and nobody else is told")
    func sends() async throws {
        try await withPeers(3) { peers, _ in
            for peer in peers { #expect(await peer.isLinked(to: 2)) }
            await peers[0].app.whenSaving { $0.addUserInfoEntries(["text": "x"]) }
            let activity = try peers[0].makeActivity()
            try await peers[0].peer.send(activity, to: peers[1].peer.id)
            #expect(
                await peers[1].app.events == [
                    .shouldAccept, .willContinue(TestPeer.type), .restored(["text": "x"]),
                ]
            )
            #expect(await peers[1].app.activities.map(\.wasSent) == [true])
            #expect(await eventually { await peers[0].app.events == [.save([:]), .wasContinued] })
            #expect(await peers[2].app.events.isEmpty)
            #expect(await peers[2].peer.peers().flatMap(\.offers).isEmpty)
            #expect(await peers[0].peer.sent.isEmpty)
        }
    }

    @Test("What the app does not want is declined, and nothing is fetched")
    func declines() async throws {
        try await withPeers(2) { peers, _ in
            for peer in peers { #expect(await peer.isLinked()) }
            await peers[1].app.setWelcoming(false)
            let activity = try peers[0].makeActivity()
            await #expect(throws: HandoffError(.refused, "")) {
                try await peers[0].peer.send(activity, to: peers[1].peer.id)
            }
            #expect(await peers[1].app.events == [.shouldAccept])
            #expect(await peers[0].app.events.isEmpty)
        }
    }

    @Test("The configuration decides from whom: everybody, those named by host or machine, nobody")
    func policies() async throws {
        let network = LoopbackNetwork()
        let sender = try TestPeer(account.makeIdentity(), on: network, name: "kitchen")
        let machine = sender.peer.id.machine.uuidString.lowercased()
        let policies: [(SendPolicy, Bool)] = [
            (.anyPeer, true), (.named(["kitchen"]), true), (.named([machine]), true), (.named(["office"]), false),
            (.named([]), false), (.never, false),
        ]
        for (policy, isAllowed) in policies {
            let target = try TestPeer(account.makeIdentity(), on: network, sendPolicy: policy)
            #expect(await target.isLinked())
            let id = target.peer.id
            #expect(await eventually(sender.peer) { peer in peer.linkedPeers().contains { $0.peer.id == id } })
            let activity = try sender.makeActivity()
            if isAllowed {
                try await sender.peer.send(activity, to: target.peer.id)
            } else {
                await #expect(throws: HandoffError(.refused, "")) {
                    try await sender.peer.send(activity, to: target.peer.id)
                }
                #expect(await target.app.events.isEmpty, "the app is not asked")
            }
            await target.stop()
        }
        await sender.stop()
    }

    @Test("A type that is not declared there, and content too new for it, are declined with the reason")
    func obstacles() async throws {
        let network = LoopbackNetwork()
        let sender = try TestPeer(
            account.makeIdentity(),
            on: network,
            contentVersions: [TestPeer.type: ContentVersion(2, oldestReader: 2)]
        )
        let other = try TestPeer(account.makeIdentity(), on: network, types: ["org.example.other"])
        let older = try TestPeer(account.makeIdentity(), on: network)
        #expect(await sender.isLinked(to: 2))
        let activity = try sender.makeActivity()
        await #expect(throws: HandoffError(.refused, "")) { try await sender.peer.send(activity, to: other.peer.id) }
        await #expect(throws: HandoffError(.versionUnsupported, "")) {
            try await sender.peer.send(activity, to: older.peer.id)
        }
        for peer in [sender, other, older] { await peer.stop() }
    }

    @Test("Why it could not be restored there is told to the sender")
    func restorationFails() async throws {
        try await withPeers(2) { peers, _ in
            for peer in peers { #expect(await peer.isLinked()) }
            await peers[1].app.whenRestoring { throw HandoffError.missingKey("title") }
            let activity = try peers[0].makeActivity()
            let error = await #expect(throws: HandoffError(.missingKey, "")) {
                try await peers[0].peer.send(activity, to: peers[1].peer.id)
            }
            #expect(error?.key == "title")
            await peers[0].app.whenSaving { $0.userInfo = ["text": .data(Data(count: 65 * 1024))] }
            activity.needsSave = true
            await #expect(throws: HandoffError(.userInfoTooLarge, "")) {
                try await peers[0].peer.send(activity, to: peers[1].peer.id)
            }
            #expect(await peers[1].app.events.last == .failed(.userInfoTooLarge))
        }
    }

    @Test("A peer that goes away meanwhile ends it, and one that was never there is no link")
    func goesAway() async throws {
        try await withPeers(2) { peers, _ in
            for peer in peers { #expect(await peer.isLinked()) }
            let gate = Gate()
            await peers[1].app.whenRestoring { await gate.pass() }
            let activity = try peers[0].makeActivity()
            let sending = Task { try await peers[0].peer.send(activity, to: peers[1].peer.id) }
            #expect(await eventually { gate.arrivals == 1 })
            await peers[1].peer.stop()
            await #expect(throws: HandoffError(.handoffFailed, "")) { try await sending.value }
            gate.open()
            await #expect(throws: HandoffError(.connectionUnavailable, "")) {
                try await peers[0].peer.send(activity, to: peers[0].peer.id)
            }
        }
    }

    @Test("Only the peer that it was sent to may fetch it, and only meanwhile")
    func isPrivate() async throws {
        try await withPeers(2) { peers, _ in
            for peer in peers { #expect(await peer.isLinked()) }
            let gate = Gate()
            await peers[1].app.whenContinuing { await gate.pass() }
            let activity = try peers[0].makeActivity()
            let sending = Task { try await peers[0].peer.send(activity, to: peers[1].peer.id) }
            #expect(await eventually { gate.arrivals == 1 })
            let raw = try await RawPeer(peers[0], as: account.makeIdentity())
            try await raw.pair()
            try await raw.send(.fetch(request: 1, activity: activity.id))
            guard case .failure(1, HandoffError(.handoffFailed, "")) = try await raw.nextButPings() else {
                return #expect(Bool(false), "somebody else got it")
            }
            gate.open()
            try await sending.value
            let late = Candidate(
                peer: try #require(await peers[1].peer.linkedPeers().first?.peer),
                offer: activity.offer
            )
            await #expect(throws: HandoffError(.handoffFailed, "")) { try await peers[1].peer.continueActivity(late) }
        }
    }

    @Test("A visitor sends, too, over the one link that it has")
    func visitorSends() async throws {
        let network = LoopbackNetwork()
        let target = try TestPeer(account.makeIdentity(), on: network)
        let visitor = try TestPeer(account.makeIdentity(), on: network, isVisitor: true)
        #expect(await visitor.isLinked())
        await visitor.app.whenSaving { $0.addUserInfoEntries(["text": "x"]) }
        let activity = try visitor.makeActivity()
        try await visitor.peer.send(activity, to: target.peer.id)
        #expect(await target.app.activities.map(\.userInfo) == [["text": "x"]])
        await visitor.stop()
        await target.stop()
    }

    @Test("What is sent does not cancel what the user is continuing")
    func leavesContinuationsAlone() async throws {
        try await withPeers(2) { peers, _ in
            let gate = Gate()
            await peers[0].app.whenSaving { _ in await gate.pass() }
            let activity = try peers[0].makeActivity()
            await activity.becomeCurrent()
            let candidate = try await peers[1].candidate()
            let continuing = Task { try await peers[1].peer.continueActivity(candidate) }
            #expect(await peers[1].isTold(.willContinue(TestPeer.type)))
            let other = try peers[0].makeActivity("Other")
            let sending = Task { try await peers[0].peer.send(other, to: peers[1].peer.id) }
            #expect(await peers[1].isTold(.shouldAccept))
            gate.open()
            _ = try await continuing.value
            try await sending.value
        }
    }
}
