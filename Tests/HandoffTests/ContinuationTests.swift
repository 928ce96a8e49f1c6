import FoundationEssentials
import HandoffDiscovery
import HandoffModel
import HandoffSupport
import HandoffTestKit
import HandoffTransport
import Testing

@testable import Handoff

@Suite("Continuation", .timeLimit(.minutes(1)))
struct ContinuationTests {
    @Test("An offer shows when its activity becomes current, is replaced by the next, and goes with it (003-3, 003-12)")
    func offers() async throws {
        try await withPeers(2) { peers, _ in
            let first = try peers[0].makeActivity("first")
            let second = try peers[0].makeActivity("second")
            await first.becomeCurrent()
            #expect(try await peers[1].candidate(titled: "first").offer.id == first.id)
            await second.becomeCurrent()
            #expect(try await peers[1].candidate(titled: "second").offer.id == second.id)
            #expect(await peers[1].peer.peers().flatMap(\.offers).map(\.title) == ["second"])
            await first.resignCurrent()  // it is not current any more: nothing changes
            await second.resignCurrent()
            #expect(await peers[1].seesNoOffer())
            await second.becomeCurrent()
            _ = try await peers[1].candidate(titled: "second")
            await second.invalidate()
            #expect(await peers[1].seesNoOffer())
            await second.becomeCurrent()
            #expect(await peers[0].peer.currentOffers.isEmpty)
        }
    }

    @Test("However fast activities change, the other end is left with the last one")
    func offersTheLast() async throws {
        try await withPeers(2) { peers, _ in
            #expect(await peers[1].isLinked())
            for number in 0..<2000 {
                let activity = try peers[0].makeActivity("\(number)")
                await activity.becomeCurrent()
                if number == 1999 { break }
                await activity.invalidate()
            }
            _ = try await peers[1].candidate(titled: "1999")
            #expect(!peers[0].log.contains { $0.hasPrefix("error") })
        }
    }

    @Test("A fetch saves once where the state is newer, into an empty userInfo, and restores what was saved (000-6)")
    func savesLazily() async throws {
        try await withPeers(2) { peers, _ in
            let (origin, target) = (peers[0], peers[1])
            await origin.app.whenSaving { $0.addUserInfoEntries(["text": .string("saved")]) }
            let activity = try origin.makeActivity()
            activity.userInfo = ["old": .boolean(true)]
            await activity.becomeCurrent()
            #expect(await origin.isTold(.save([:])))
            let candidate = try await target.candidate()
            await origin.app.forget()

            let unchanged = try await target.peer.continueActivity(candidate)
            #expect(unchanged.userInfo == ["text": .string("saved")])
            #expect(await origin.isTold(.wasContinued))
            #expect(await origin.app.events == [.wasContinued], "needsSave was false")

            activity.needsSave = true
            _ = try await target.peer.continueActivity(candidate)
            #expect(await eventually { await origin.app.events == [.wasContinued, .save([:]), .wasContinued] })
            let told: [TestApp.Event] = [
                .shouldContinue, .willContinue(TestPeer.type), .restored(["text": .string("saved")]),
            ]
            #expect(await target.app.events.filter { $0 != .shouldUpdate } == told + told)
        }
    }

    @Test("Ten thousand keystrokes send nothing and save nothing (003-5)")
    func keepsKeystrokesLocal() async throws {
        try await withPeers(1) { peers, _ in
            let raw = try await RawPeer(peers[0], as: account.makeIdentity())
            try await raw.pair()
            let activity = try peers[0].makeActivity()
            await activity.becomeCurrent()
            #expect(try await raw.nextButPings() == .offers([activity.offer]))
            #expect(await peers[0].isTold(.save([:])))
            for _ in 0..<10_000 { activity.needsSave = true }
            await activity.resignCurrent()
            #expect(try await raw.nextButPings() == .offers([]))
            #expect(await peers[0].app.events == [.save([:])])
        }
    }

    @Test("Two fetches during one save both get the complete state")
    func sharesSave() async throws {
        try await withPeers(3) { peers, _ in
            let origin = peers[0]
            let gate = Gate()
            await origin.app.whenSaving { activity in
                activity.userInfo["half"] = .boolean(true)
                await gate.pass()
                activity.userInfo["whole"] = .boolean(true)
            }
            await (try origin.makeActivity()).becomeCurrent()
            let candidates = [try await peers[1].candidate(), try await peers[2].candidate()]
            async let first = peers[1].peer.continueActivity(candidates[0])
            async let second = peers[2].peer.continueActivity(candidates[1])
            #expect(await peers[1].isTold(.willContinue(TestPeer.type)))
            #expect(await peers[2].isTold(.willContinue(TestPeer.type)))
            gate.open()
            let whole: [String: PropertyList] = ["half": .boolean(true), "whole": .boolean(true)]
            #expect(try await [first.userInfo, second.userInfo] == [whole, whole])
            #expect(gate.arrivals == 1)
        }
    }

    @Test("A state that cannot be saved is not handed off by half, and is saved again for the next who asks")
    func failsSaving() async throws {
        try await withPeers(2) { peers, _ in
            let (origin, target) = (peers[0], peers[1])
            let activity = try origin.makeActivity()
            await activity.becomeCurrent()
            #expect(await origin.isTold(.save([:])))
            let candidate = try await target.candidate()
            await origin.app.whenSaving { activity in
                activity.userInfo["half"] = true
                throw CancellationError()
            }
            activity.needsSave = true
            await #expect(throws: HandoffError(.handoffFailed, "")) {
                try await target.peer.continueActivity(candidate)
            }
            #expect(await target.app.events.last == .failed(.handoffFailed))
            await origin.app.whenSaving { $0.userInfo["whole"] = true }
            #expect(try await target.peer.continueActivity(candidate).userInfo == ["whole": true])
        }
    }

    @Test("A save that takes more than 2 s times out at both ends, and the next save waits for it")
    func timesOutSaving() async throws {
        let clock = ManualClock()
        try await withPeers(2, clock: clock.clock) { peers, _ in
            let (origin, target) = (peers[0], peers[1])
            let activity = try origin.makeActivity()
            await activity.becomeCurrent()
            #expect(await origin.isTold(.save([:])))
            let candidate = try await target.candidate()
            // The limit of the first save must not be taken for that of the next.
            #expect(await eventually { !clock.isSlept(for: UserActivity.saveLimit) })
            let gate = Gate()
            await origin.app.whenSaving { activity in
                await gate.pass()
                activity.userInfo["count"] = .integer((activity.userInfo["count"]?.integerValue ?? 0) + 1)
            }
            activity.needsSave = true
            let fetch = Task { try await target.peer.continueActivity(candidate) }
            #expect(await eventually { gate.arrivals == 1 })
            try await clock.waitForSleep(of: UserActivity.saveLimit)
            clock.advance(by: UserActivity.saveLimit)
            await #expect(throws: HandoffError(.remoteApplicationTimedOut, "")) { try await fetch.value }
            #expect(await target.app.events.last == .failed(.remoteApplicationTimedOut))
            #expect(await origin.logs("the app did not save its state within 2 s"))

            activity.needsSave = true
            let next = Task { try await target.peer.continueActivity(candidate) }
            try await clock.waitForSleep(of: UserActivity.saveLimit)
            #expect(gate.arrivals == 1, "the first hook is still running")
            gate.open()
            #expect(try await next.value.userInfo == ["count": .integer(1)])
            #expect(gate.arrivals == 2)
        }
    }

    @Test("A userInfo over 64 KiB fails at both ends with userInfoTooLarge")
    func refusesLargeState() async throws {
        try await withPeers(2) { peers, _ in
            await peers[0].app.whenSaving { $0.userInfo = ["text": .data(Data(count: 65 * 1024))] }
            await (try peers[0].makeActivity()).becomeCurrent()
            let candidate = try await peers[1].candidate()
            await #expect(throws: HandoffError(.userInfoTooLarge, "")) {
                try await peers[1].peer.continueActivity(candidate)
            }
            #expect(await peers[1].app.events.last == .failed(.userInfoTooLarge))
            #expect(await peers[0].logs("at most 64 KiB"))
        }
    }

    @Test("A peer that sends more than 64 KiB all the same is not believed")
    func refusesLargePayload() async throws {
        try await withPeers(1) { peers, _ in
            let raw = try await RawPeer(peers[0], as: account.makeIdentity())
            try await raw.pair()
            let offer = Offer(id: UUID(), type: TestPeer.type, title: "Note")
            try await raw.send(.offers([offer]))
            let candidate = try await peers[0].candidate()
            let fetch = Task { try await peers[0].peer.continueActivity(candidate) }
            guard case .fetch(let request, offer.id) = try await raw.nextButPings() else {
                return #expect(Bool(false), "no fetch came")
            }
            try await raw.send([
                "kind": .string("activity"), "request": .integer(request),
                "activity": .dictionary([
                    "id": .string(offer.id.uuidString), "type": .string(offer.type), "title": .string(""),
                    "userInfo": .dictionary(["text": .data(Data(count: 65 * 1024))]),
                ]),
            ])
            await #expect(throws: HandoffError(.userInfoTooLarge, "")) { try await fetch.value }
        }
    }

    @Test("An activity that ended between its offer and the fetch is not available")
    func missesEndedActivity() async throws {
        try await withPeers(2) { peers, _ in
            let activity = try peers[0].makeActivity()
            await activity.becomeCurrent()
            let candidate = try await peers[1].candidate()
            await activity.invalidate()
            await #expect(throws: HandoffError(.handoffFailed, "")) {
                try await peers[1].peer.continueActivity(candidate)
            }
            #expect(
                await peers[1].app.events == [
                    .shouldContinue, .willContinue(TestPeer.type), .failed(.handoffFailed),
                ]
            )
        }
    }

    @Test("An origin that stops during the fetch ends it with handoffFailed")
    func losesOrigin() async throws {
        try await withPeers(2) { peers, _ in
            let gate = Gate()
            await peers[0].app.whenSaving { _ in await gate.pass() }
            await (try peers[0].makeActivity()).becomeCurrent()
            let candidate = try await peers[1].candidate()
            let fetch = Task { try await peers[1].peer.continueActivity(candidate) }
            #expect(await peers[1].isTold(.willContinue(TestPeer.type)))
            await peers[0].stop()
            // Before the fetch has left, there may be no link any more to send it over.
            let error = await #expect(throws: HandoffError.self) { try await fetch.value }
            #expect(error?.code == .handoffFailed || error?.code == .connectionUnavailable)
            #expect(await peers[1].app.events.count == 3)
            gate.open()
        }
    }

    @Test("An activity that the app does not want is refused without another callback")
    func refuses() async throws {
        try await withPeers(2) { peers, _ in
            await (try peers[0].makeActivity()).becomeCurrent()
            let candidate = try await peers[1].candidate()
            await peers[1].app.setWelcoming(false)
            await #expect(throws: HandoffError(.refused, "")) {
                try await peers[1].peer.continueActivity(candidate)
            }
            await #expect(throws: HandoffError(.refused, "")) { try await peers[1].peer.continueNearest() }
            #expect(await peers[1].app.events == [.shouldContinue, .shouldContinue])
        }
    }

    @Test("A second continuation cancels the first, which fails once and quietly")
    func cancelsFirst() async throws {
        try await withPeers(2) { peers, _ in
            let gate = Gate()
            await peers[0].app.whenSaving { _ in await gate.pass() }
            await (try peers[0].makeActivity()).becomeCurrent()
            let candidate = try await peers[1].candidate()
            let first = Task { try await peers[1].peer.continueActivity(candidate) }
            #expect(await peers[1].isTold(.willContinue(TestPeer.type)))
            let second = Task { try await peers[1].peer.continueActivity(candidate) }
            await #expect(throws: HandoffError(.cancelled, "")) { try await first.value }
            gate.open()
            _ = try await second.value
            let events = await peers[1].app.events
            #expect(events.count { $0 == .failed(.cancelled) } == 1)
            #expect(events.count { $0 == .restored([:]) } == 1)
            #expect(events.count == 6)
        }
    }

    @Test("A continuation cancelled while the app is told that it begins still fails exactly once")
    func cancelsBeforeFetch() async throws {
        try await withPeers(2) { peers, _ in
            await (try peers[0].makeActivity()).becomeCurrent()
            let candidate = try await peers[1].candidate()
            let gate = Gate()
            await peers[1].app.whenContinuing { await gate.pass() }
            let task = Task { try await peers[1].peer.continueActivity(candidate) }
            #expect(await eventually { gate.arrivals == 1 })
            task.cancel()
            gate.open()
            await #expect(throws: HandoffError(.cancelled, "")) { try await task.value }
            #expect(
                await peers[1].app.events == [
                    .shouldContinue, .willContinue(TestPeer.type), .failed(.cancelled),
                ]
            )
        }
    }

    @Test("A state that has arrived is restored, and its origin told, though the caller gave up")
    func restoresThoughCancelled() async throws {
        try await withPeers(2) { peers, _ in
            await (try peers[0].makeActivity()).becomeCurrent()
            let candidate = try await peers[1].candidate()
            let gate = Gate()
            await peers[1].app.whenRestoring { await gate.pass() }
            let task = Task { try await peers[1].peer.continueActivity(candidate) }
            #expect(await eventually { gate.arrivals == 1 })
            task.cancel()
            gate.open()
            _ = try await task.value
            #expect(await peers[0].isTold(.wasContinued))
            #expect(await peers[1].app.events.count == 3)
        }
    }

    @Test("Where the nearest peer's payload does not arrive the next one's is taken, and the failure told")
    func fallsThrough() async throws {
        try await withPeers(3) { peers, _ in
            let target = peers[2]
            let saves = LockedBox(0)
            for (index, peer) in peers[0...1].enumerated() {
                let activity = try peer.makeActivity("\(index)")
                await activity.becomeCurrent()
                #expect(await peer.isTold(.save([:])))
                _ = try await target.candidate(titled: "\(index)")
                await peer.app.whenSaving { activity in
                    // Whoever is asked first cannot give its state away.
                    let isFirst = saves.withLock { saves in
                        saves += 1
                        return saves == 1
                    }
                    if isFirst { activity.userInfo["text"] = .data(Data(count: 65 * 1024)) }
                }
                activity.needsSave = true
            }
            let continuation = try await target.peer.continueNearest()
            #expect(continuation.failures.map(\.error.code) == [.userInfoTooLarge])
            let failed = try #require(continuation.failures.first?.peer.id)
            #expect(failed != continuation.activity.origin.id)
            await #expect(throws: HandoffError(.userInfoTooLarge, "")) {
                try await target.peer.continueNearest { $0.peer.id == failed }
            }
        }
    }

    @Test("Where restoring fails, no other peer is asked")
    func keepsRestorationFailure() async throws {
        try await withPeers(3) { peers, _ in
            await (try peers[0].makeActivity("0")).becomeCurrent()
            await (try peers[1].makeActivity("1")).becomeCurrent()
            _ = try await peers[2].candidate(titled: "0")
            _ = try await peers[2].candidate(titled: "1")
            await peers[2].app.whenRestoring { throw HandoffError(.missingKey, "no text") }
            await #expect(throws: HandoffError(.missingKey, "")) { try await peers[2].peer.continueNearest() }
            #expect(await peers[2].app.events == [.shouldContinue, .willContinue(TestPeer.type), .restored([:])])
        }
    }
}

extension TestPeer {
    fileprivate func seesNoOffer() async -> Bool {
        await eventually(peer) { $0.links.values.allSatisfy { $0.offers.isEmpty } }
    }
}
