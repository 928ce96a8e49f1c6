import FoundationEssentials
import HandoffModel
import HandoffSupport
import HandoffTestKit
import Testing

@testable import Handoff

/// What the classical sample apps rely on (docs/testing.md, "The model's checklist"), where no other suite states it.
@Suite("The model of activities", .timeLimit(.minutes(1)))
struct ModelChecklistTests {
    @Test("An app makes and is offered activities of its declared types only (000-3)")
    func declaredTypes() async throws {
        try await withPeers(1) { peers, _ in
            #expect(throws: HandoffError(.invalidActivity, "")) {
                try peers[0].peer.makeActivity(type: "org.example.test.undeclared", title: "", delegate: nil)
            }
            let raw = try await RawPeer(peers[0], as: account.makeIdentity())
            try await raw.pair()
            let foreign = Offer(id: UUID(), type: "org.example.raw.undeclared", title: "foreign")
            try await raw.send(.offers([foreign]))
            #expect(await eventually(peers[0].peer) { $0.links.values.contains { $0.offers == [foreign] } })
            #expect(await peers[0].peer.candidates().isEmpty)
            await #expect(throws: HandoffError(.refused, "")) { try await peers[0].peer.continueNearest() }
            #expect(await peers[0].app.events.isEmpty)
            try await raw.send(.offers([foreign, Offer(id: UUID(), type: TestPeer.type, title: "known")]))
            let isKnown = await eventually { await peers[0].peer.candidates().map(\.offer.title) == ["known"] }
            #expect(isKnown)
        }
    }

    @Test("The app is told the type before its origin is asked, and what it answers refuses nothing (000-9, 001-7)")
    func willContinue() async throws {
        try await withPeers(2) { peers, _ in
            let (origin, target) = (peers[0], peers[1])
            let activity = try origin.makeActivity()
            await activity.becomeCurrent()
            #expect(await origin.isTold(.save([:])))
            let candidate = try await target.candidate()
            await origin.app.forget()
            activity.needsSave = true
            let gate = Gate()
            await target.app.whenContinuing { await gate.pass() }
            let continuation = Task { try await target.peer.continueActivity(candidate) }
            #expect(await eventually { gate.arrivals == 1 })
            #expect(await target.app.events == [.shouldContinue, .willContinue(TestPeer.type)])
            #expect(await origin.app.events.isEmpty)
            gate.open()
            _ = try await continuation.value
            #expect(await origin.app.events.first == .save([:]))
            #expect(await target.app.events.last == .restored([:]))
        }
    }

    @Test("What is edited between the offer and the fetch is what travels (001-8)")
    func newest() async throws {
        try await withPeers(2) { peers, _ in
            let text = LockedBox("first")
            await peers[0].app.whenSaving { activity in
                activity.addUserInfoEntries(["text": .string(text.withLock { $0 })])
            }
            let activity = try peers[0].makeActivity()
            await activity.becomeCurrent()
            #expect(await eventually { activity.userInfo["text"] == "first" })
            let candidate = try await peers[1].candidate()
            for next in ["second", "third", ""] {
                text.withLock { $0 = next }
                activity.needsSave = true
                #expect(try await peers[1].peer.continueActivity(candidate).userInfo == ["text": .string(next)])
            }
        }
    }

    @Test("A failure names the type and the cause, to the app and to its caller (000-13, 001-7)")
    func didFail() async throws {
        let network = LoopbackNetwork()
        let origin = try TestPeer(account.makeIdentity(), on: network)
        let app = FailingApp()
        let target = try HandoffPeer(
            configuration: HandoffConfiguration(
                app: "org.example.test",
                name: "",
                host: "",
                types: [TestPeer.type],
                ports: 0...0
            ),
            identity: account.makeIdentity(),
            discovery: LoopbackDiscovery(network: network),
            application: app
        )
        let running = Task { try await target.run() }  // stop() ends it
        let reason = HandoffError(.missingKey, "the list has gone")
        await origin.app.whenSaving { _ in throw reason }
        await (try origin.makeActivity()).becomeCurrent()
        #expect(await eventually { await target.candidates().count == 1 })
        let thrown = await #expect(throws: HandoffError.self) { try await target.continueNearest() }
        #expect(thrown?.code == .missingKey)
        #expect(thrown?.message == reason.message)
        #expect(app.failures.withLock { $0 } == ["\(TestPeer.type): \(reason.message)"])
        #expect(await origin.logs("the list has gone"))
        await origin.stop()
        await target.stop()
        _ = await running.result
    }
}

/// An app that writes down what failed.
private final class FailingApp: HandoffApplication {
    let failures = LockedBox<[String]>([])

    func continueActivity(_ activity: ContinuedActivity) async throws {}

    func didFailToContinue(type: String, error: HandoffError) async {
        failures.withLock { $0.append("\(type): \(error.message)") }
    }
}
