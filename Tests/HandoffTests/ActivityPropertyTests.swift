import FoundationEssentials
import HandoffModel
import HandoffSupport
import HandoffTestKit
import Testing

@testable import Handoff

@Suite("The properties of an activity", .timeLimit(.minutes(1)))
struct ActivityPropertyTests {
    @Test("An activity of a type that the app does not make is an error at once; what it takes may be other types")
    func declaredTypes() async throws {
        let network = LoopbackNetwork()
        let (view, edit) = ("org.example.view", "org.example.edit")
        let origin = try TestPeer(account.makeIdentity(), on: network, types: [], createdTypes: [view, edit])
        let target = try TestPeer(account.makeIdentity(), on: network, types: [view], createdTypes: [])
        #expect(throws: HandoffError(.invalidActivity, "")) {
            try target.peer.makeActivity(type: view, title: "", delegate: nil)
        }
        let activity = try origin.peer.makeActivity(type: view, title: "Note", delegate: origin.app)
        await activity.becomeCurrent()
        _ = try await target.peer.continueActivity(target.candidate())
        let other = try origin.peer.makeActivity(type: edit, title: "Other", delegate: origin.app)
        await other.becomeCurrent()
        #expect(await eventually(target.peer) { $0.obstacles().map(\.offer.title) == ["Other"] })
        #expect(await target.peer.candidates().isEmpty)
        await #expect(throws: HandoffError(.refused, "")) { try await target.peer.continueNearest() }
        await origin.stop()
        await target.stop()
    }

    @Test("However calls to its life race, an activity is offered if and only if it is current")
    func races() async throws {
        try await withPeers(1) { peers, _ in
            let peer = peers[0].peer
            for _ in 0..<300 {
                let activity = try peers[0].makeActivity()
                await withTaskGroup(of: Void.self) { group in
                    for _ in 0..<4 {
                        group.addTask {
                            await activity.becomeCurrent()
                            await activity.resignCurrent()
                            await activity.becomeCurrent()
                        }
                    }
                }
                let isCurrent = activity.state.phase == .current
                #expect(await peer.currentOffers == (isCurrent ? [activity.offer] : []))
                async let ended: Void = activity.invalidate()
                await activity.becomeCurrent()
                await ended
                #expect(await peer.currentOffers.isEmpty)
                #expect(await peer.current == nil)
            }
        }
    }

    @Test("Every property reaches the app that continues")
    func travels() async throws {
        try await withPeers(2) { peers, _ in
            let activity = try peers[0].makeActivity()
            let page = try #require(WebpageURL.parse("https://example.org/note"))
            try activity.setWebpageURL(page)
            activity.targetContentIdentifier = "note 7"
            activity.requiredUserInfoKeys = ["text"]
            activity.expirationDate = Date(timeIntervalSinceReferenceDate: 4_000_000_000)
            activity.supportsContinuationStreams = true
            await peers[0].app.whenSaving { $0.addUserInfoEntries(["text": "x"]) }
            await activity.becomeCurrent()
            let candidate = try await peers[1].candidate()
            #expect(candidate.offer.hasWebpage)
            #expect(candidate.offer.supportsStreams)
            let continued = try await peers[1].peer.continueActivity(candidate)
            #expect(continued.webpageURL == page)
            #expect(continued.targetContentIdentifier == "note 7")
            #expect(continued.requiredUserInfoKeys == ["text"])
            #expect(continued.expirationDate == activity.expirationDate)
            #expect(continued.supportsContinuationStreams)
            #expect(!continued.wasSent)
            #expect(await peers[1].app.activities == [continued])
        }
    }

    @Test("A required key that the app did not save fails the continuation, naming the key at both ends")
    func missingKey() async throws {
        try await withPeers(2) { peers, _ in
            let activity = try peers[0].makeActivity()
            activity.requiredUserInfoKeys = ["title", "text"]
            await peers[0].app.whenSaving { $0.addUserInfoEntries(["title": "t"]) }
            await activity.becomeCurrent()
            let candidate = try await peers[1].candidate()
            let error = await #expect(throws: HandoffError(.missingKey, "")) {
                try await peers[1].peer.continueActivity(candidate)
            }
            #expect(error?.key == "text")
            #expect(await peers[1].app.events.last == .failed(.missingKey))
            #expect(await peers[0].logs("\"text\""))
        }
    }

    @Test("A title that is set while the activity is current is told, without a save")
    func renames() async throws {
        try await withPeers(2) { peers, _ in
            let activity = try peers[0].makeActivity("before")
            await activity.becomeCurrent()
            #expect(await peers[0].isTold(.save([:])))
            _ = try await peers[1].candidate(titled: "before")
            activity.title = "after"
            #expect(try await peers[1].candidate(titled: "after").offer.id == activity.id)
            #expect(await peers[0].app.events == [.save([:])])
        }
    }

    @Test("What is not eligible is never offered nor given away, and is as soon as it is")
    func eligibility() async throws {
        try await withPeers(2) { peers, _ in
            let activity = try peers[0].makeActivity()
            await activity.becomeCurrent()
            let candidate = try await peers[1].candidate()
            activity.isEligibleForHandoff = false
            #expect(await eventually(peers[1].peer) { $0.links.values.allSatisfy { $0.offers.isEmpty } })
            await #expect(throws: HandoffError(.handoffFailed, "")) {
                try await peers[1].peer.continueActivity(candidate)
            }
            await #expect(throws: HandoffError(.invalidActivity, "")) {
                try await peers[0].peer.send(activity, to: peers[1].peer.id)
            }
            activity.isEligibleForHandoff = true
            _ = try await peers[1].candidate()
        }
    }

    @Test("An activity leaves the others' lists when it expires, and is not given away after that")
    func expiry() async throws {
        let clock = ManualClock()
        let start = Date(timeIntervalSinceReferenceDate: 800_000_000)
        let network = LoopbackNetwork()
        let origin = try TestPeer(
            account.makeIdentity(),
            on: network,
            clock: clock.clock,
            wallClock: { start + clock.now / .seconds(1) }
        )
        // A visitor is not dialled: the clock must not move on while a second link is being made.
        let target = try TestPeer(account.makeIdentity(), on: network, isVisitor: true)
        let activity = try origin.makeActivity()
        activity.expirationDate = start + 30
        await activity.becomeCurrent()
        let candidate = try await target.candidate()
        try await clock.waitForSleep(of: .seconds(30))
        clock.advance(by: .seconds(30))
        #expect(await eventually(target.peer) { $0.links.values.allSatisfy { $0.offers.isEmpty } })
        await #expect(throws: HandoffError(.expired, "")) { try await target.peer.continueActivity(candidate) }
        // Whoever wants it to live on sets another date.
        activity.expirationDate = nil
        _ = try await target.candidate()
        await origin.stop()
        await target.stop()
    }

    @Test("A web page that is none is an error at once, and changes nothing")
    func refusesAddresses() async throws {
        try await withPeers(1) { peers, _ in
            let activity = try peers[0].makeActivity()
            for text in ["ftp://example.org", "mailto:a@example.org", "file:///etc/passwd"] {
                #expect(throws: HandoffError(.invalidActivity, "")) { try activity.setWebpageURL(URL(string: text)) }
            }
            #expect(activity.webpageURL == nil)
        }
    }

    @Test("The web page stands in only where no app here takes the activity, and no app is bothered")
    func webpage() async throws {
        let network = LoopbackNetwork()
        let origin = try TestPeer(account.makeIdentity(), on: network)
        let taker = try TestPeer(account.makeIdentity(), on: network)
        let other = try TestPeer(account.makeIdentity(), on: network, types: ["org.example.other"])
        let page = try #require(WebpageURL.parse("https://example.org/note"))
        let activity = try origin.makeActivity()
        try activity.setWebpageURL(page)
        await activity.becomeCurrent()
        for peer in [taker, other] {
            #expect(await eventually(peer.peer) { $0.links.values.contains { !$0.offers.isEmpty } })
        }
        let taken = try await taker.peer.continueNearest(includingWebpages: true)
        #expect(!taken.isWebpage)
        #expect(await taker.app.activities.count == 1)
        await #expect(throws: HandoffError(.refused, "")) { try await other.peer.continueNearest() }
        let opened = try await other.peer.continueNearest(includingWebpages: true)
        #expect(opened.isWebpage)
        #expect(opened.activity.webpageURL == page)
        #expect(await other.app.events.isEmpty)
        #expect(await eventually { await origin.app.events.count { $0 == .wasContinued } == 2 })
        for peer in [origin, taker, other] { await peer.stop() }
    }

    @Test("An older app takes what the newer one says that it can read, a newer one takes what is older")
    func contentVersions() async throws {
        let network = LoopbackNetwork()
        func peer(_ name: String, _ version: ContentVersion) throws -> TestPeer {
            try TestPeer(
                account.makeIdentity(),
                on: network,
                name: name,
                contentVersions: [TestPeer.type: version]
            )
        }
        let (first, second) = (try peer("first", .first), try peer("second", ContentVersion(2)))
        let third = try peer("third", ContentVersion(3, oldestReader: 2))
        await (try third.makeActivity("of the third")).becomeCurrent()
        let continued = try await second.peer.continueActivity(second.candidate(titled: "of the third"))
        #expect(continued.contentVersion == ContentVersion(3, oldestReader: 2))
        #expect(await eventually(first.peer) { !$0.obstacles().isEmpty })
        let error = await #expect(throws: HandoffError(.versionUnsupported, "")) {
            try await first.peer.continueNearest()
        }
        #expect(
            error?.message.contains("update test on first") == true || error?.message.contains("update first") == true
        )
        await (try first.makeActivity("of the first")).becomeCurrent()
        #expect(
            try await third.peer.continueActivity(third.candidate(titled: "of the first")).contentVersion == .first
        )
        for peer in [first, second, third] { await peer.stop() }
    }
}
