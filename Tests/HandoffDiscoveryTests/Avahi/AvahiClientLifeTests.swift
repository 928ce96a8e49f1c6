import CAvahi
import Testing

@testable import HandoffDiscovery

private let noDaemon = DiscoveryError(.noDaemon, "")
private let noBus = DiscoveryError(.noBus, "")
private let timedOut = DiscoveryError(.timedOut, "")

@Suite struct AvahiClientLifeTests {
    @Test("Without a bus the client is tried again, each pause longer, ten seconds at most")
    func retriesWithoutBus() throws {
        var script = Script()
        script.advance()
        var pauses: [Duration] = []
        for _ in 0..<10 {
            script.report(.failed(try script.client(), Int32(AVAHI_ERR_NO_DAEMON)))
            let deadline = try #require(script.machine.deadline)
            pauses.append(deadline - script.now)
            script.advance(by: pauses[pauses.count - 1])
        }
        #expect(zip(pauses, pauses.dropFirst()).allSatisfy { $0 <= $1 })
        #expect(pauses[0] <= .milliseconds(200) && pauses[9] > .seconds(5) && pauses[9] <= .seconds(10))
        // It is told once, not with each try.
        #expect(script.emitted == [.unavailable(noBus)])
    }

    @Test("A daemon that is absent is waited for without waking up")
    func waitsForDaemon() throws {
        var script = Script()
        script.advance()
        script.report(.clientChanged(try script.client(), .connecting))
        #expect(script.machine.deadline == nil)
        script.report(.clientChanged(try script.client(), .running))
        #expect(script.emitted == [.unavailable(noDaemon), .available])
        _ = try script.browser()
    }

    @Test("A client that was long in the making belongs to a daemon that hangs, and is made anew")
    func rebuildsAfterHang() throws {
        var script = Script()
        script.advance()
        script.now += .seconds(25)
        script.report(.clientChanged(try script.client(), .connecting))
        #expect(script.emitted == [.unavailable(timedOut)])
        #expect(script.objects.isEmpty)
        script.advance(by: .seconds(1))
        _ = try script.client()
    }

    @Test("After the daemon's death all is built anew, and late events of the old objects are dropped")
    func survivesDaemon() throws {
        var script = Script()
        script.ask(announce("h-one"))
        try script.run()
        let (client, group, browser) = (try script.client(), try script.group(), try script.browser())
        script.report(.established(group))
        script.report(.failed(client, Int32(AVAHI_ERR_DISCONNECTED)))
        #expect(script.objects.isEmpty)
        script.advance(by: .seconds(1))
        script.report(.clientChanged(client, .running))
        script.report(.failed(group, Int32(AVAHI_ERR_COLLISION)))
        script.report(.appeared(browser, key("x")))
        #expect(script.objects == [try script.client(): .client])
        script.report(.clientChanged(try script.client(), .running))
        script.report(.established(try script.group()))
        let expected: [DiscoveryEvent] = [
            .available, .announced(instanceName: "h-one"), .unavailable(noDaemon), .available,
            .announced(instanceName: "h-one"),
        ]
        #expect(script.emitted == expected)
    }

    @Test("A call that the daemon does not answer ends the client, whichever object made it")
    func lostByCall() throws {
        for isGroup in [true, false] {
            var script = Script()
            script.ask(announce("h-one"))
            try script.run()
            script.report(.failed(isGroup ? try script.group() : try script.browser(), Int32(AVAHI_ERR_DBUS_ERROR)))
            #expect(script.objects.isEmpty)
            #expect(script.emitted.last == .unavailable(timedOut))
        }
    }

    @Test("A daemon that dies at every start is not hammered; one that lived long is tried at once")
    func backsOffFromCrashes() throws {
        var script = Script()
        var pauses: [Duration] = []
        script.advance()
        for life: Duration in [.zero, .zero, .zero, .zero, .seconds(60)] {
            script.report(.clientChanged(try script.client(), .running))
            script.now += life
            script.report(.failed(try script.client(), Int32(AVAHI_ERR_DISCONNECTED)))
            pauses.append(try #require(script.machine.deadline) - script.now)
            script.advance(by: pauses[pauses.count - 1])
        }
        #expect(pauses[3] > pauses[2] && pauses[2] > pauses[1] && pauses[1] > pauses[0])
        #expect(pauses[4] <= .milliseconds(200))
    }

    @Test("Who asks while nothing works is refused at once")
    func refusesWhileUnavailable() throws {
        var script = Script()
        script.advance()
        script.report(.failed(try script.client(), Int32(AVAHI_ERR_NO_DAEMON)))
        script.refusals = []
        script.ask(.want(instanceName: "x"))
        #expect(script.refusals == [noBus])
    }
}
