import CAvahi
import Testing

@testable import HandoffDiscovery

@Suite struct AvahiPublicationTests {
    @Test("Nothing is published before the daemon has a host name, and it is withdrawn while it looks for another")
    func followsHostName() throws {
        var script = Script()
        script.ask(announce("h-one"))
        script.advance()
        script.report(.clientChanged(try script.client(), .registering))
        #expect(script.publishedNames.isEmpty)
        script.report(.clientChanged(try script.client(), .running))
        #expect(script.publishedNames == ["h-one"])
        script.report(.clientChanged(try script.client(), .registering))
        #expect(script.publishedNames.isEmpty)
        script.report(.clientChanged(try script.client(), .running))
        #expect(script.publishedNames == ["h-one"])
    }

    @Test("A collision, local or remote, brings the fresh name", arguments: [true, false])
    func renames(isLocal: Bool) throws {
        var script = Script()
        script.ask(announce("h-one", collidingTo: "h-two"))
        try script.run()
        if !isLocal { script.report(.established(try script.group())) }
        script.report(.failed(try script.group(), Int32(AVAHI_ERR_COLLISION)))
        script.advance(by: .milliseconds(200))
        #expect(script.publishedNames == ["h-two"])
        script.report(.established(try script.group()))
        #expect(script.emitted.last == .announced(instanceName: "h-two"))
        #expect(script.machine.deadline == nil)
    }

    @Test("A name that keeps colliding is tried ever more slowly")
    func slowsCollisions() throws {
        var script = Script()
        script.ask(announce("h-one", collidingTo: "h-one"))
        try script.run()
        for _ in 0..<12 {
            script.report(.failed(try script.group(), Int32(AVAHI_ERR_COLLISION)))
            script.advance(by: .seconds(10))
        }
        script.report(.failed(try script.group(), Int32(AVAHI_ERR_COLLISION)))
        #expect(try #require(script.machine.deadline) - script.now > .seconds(5))
    }

    @Test("A fresh name that is none is told, and not tried")
    func refusesInvalidRename() throws {
        var script = Script()
        script.ask(announce("h-one", collidingTo: ""))
        try script.run()
        script.report(.failed(try script.group(), Int32(AVAHI_ERR_COLLISION)))
        #expect(script.emitted.last == .unavailable(DiscoveryError(.invalidAnnouncement, "")))
        #expect(script.machine.deadline == nil && script.publishedNames.isEmpty)
    }

    @Test("Where publishing is forbidden it is told once, and browsing goes on")
    func stopsWhereForbidden() throws {
        var script = Script()
        script.ask(announce("h-one"))
        try script.run()
        script.report(.failed(try script.group(), Int32(AVAHI_ERR_NOT_PERMITTED)))
        #expect(script.emitted == [.available, .unavailable(DiscoveryError(.notPermitted, ""))])
        #expect(script.machine.deadline == nil && script.publishedNames.isEmpty)
        _ = try script.browser()
        script.ask(.want(instanceName: "x"))
        #expect(script.refusals.isEmpty)
    }

    @Test("A group that is stuck in probing is made anew after ten seconds")
    func resetsStuckGroup() throws {
        var script = Script()
        script.ask(announce("h-one"))
        try script.run()
        let stuck = try script.group()
        script.advance(by: .milliseconds(9900))
        #expect(try script.group() == stuck)
        script.advance(by: .milliseconds(100))
        #expect(try script.group() != stuck)
    }

    @Test("A new announcement takes the place of the old, and withdrawing leaves none")
    func replaces() throws {
        var script = Script()
        try script.run()
        script.ask(announce("h-one"))
        let old = try script.group()
        script.report(.established(old))
        script.ask(announce("h-two"))
        // The old one's late collision must not rename the new one.
        script.report(.failed(old, Int32(AVAHI_ERR_COLLISION)))
        #expect(script.publishedNames == ["h-two"])
        script.ask(.withdraw)
        #expect(script.publishedNames.isEmpty && script.machine.deadline == nil)
    }
}
