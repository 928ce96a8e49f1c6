import CAvahi
import HandoffSupport
import Testing

@testable import HandoffDiscovery

private func answer(_ last: UInt8, host: String = "a.local") throws -> ServiceAnswer {
    let address = try #require(SocketAddress(octets: [10, 0, 0, last], port: 4711))
    return ServiceAnswer(hostName: host, address: address, text: [[last]])
}

private func found(_ name: String, _ answers: ServiceAnswer...) -> DiscoveryEvent {
    let last = answers[answers.count - 1]
    return .found(
        DiscoveredService(
            instanceName: name,
            hostName: last.hostName,
            addresses: answers.map(\.address),
            text: last.text
        )
    )
}

@Suite struct AvahiServiceTableTests {
    @Test("The appearances of a service are merged into one, with all their addresses")
    func merges() throws {
        var script = Script()
        try script.run()
        let (four, six) = (key("x"), key("x", family: AVAHI_PROTO_INET6))
        let browser = try script.browser()
        script.report(.appeared(browser, four))
        script.report(.appeared(browser, six))
        script.report(.answered(try script.resolver(four), try answer(1)))
        script.advance(by: .milliseconds(1))
        script.report(.answered(try script.resolver(six), try answer(2)))
        #expect(script.resolverCount == 0, "resolvers are closed after their answer")
        let expected = [.available, found("x", try answer(1)), found("x", try answer(1), try answer(2))]
        #expect(script.takeEmitted() == expected)
        script.report(.disappeared(browser, four))
        #expect(script.takeEmitted().isEmpty)
        script.report(.disappeared(browser, six))
        #expect(script.takeEmitted() == [.lost(instanceName: "x")])
    }

    @Test("A service that goes before its answer takes its resolver along and is not told")
    func dropsUnanswered() throws {
        var script = Script()
        try script.run()
        let browser = try script.browser()
        script.report(.appeared(browser, key("x")))
        let late = try script.resolver(key("x"))
        script.report(.disappeared(browser, key("x")))
        script.report(.answered(late, try answer(1)))
        #expect(script.resolverCount == 0)
        #expect(script.takeEmitted() == [.available])
    }

    @Test("However many services appear, few resolvers are open, and all services get their turn")
    func bounds() throws {
        var script = Script()
        try script.run()
        let browser = try script.browser()
        for number in 0..<300 { script.report(.appeared(browser, key("s\(number)"))) }
        #expect(script.resolverCount == AvahiServiceTable.resolverLimit)
        script.report(.allForNow(browser))
        _ = script.takeEmitted()
        for number in 0..<300 { script.report(.answered(try script.resolver(key("s\(number)")), try answer(1))) }
        let expected = try (0..<300).map { found("s\($0)", try answer(1)) } + [.settled]
        #expect(script.takeEmitted() == expected)
    }

    @Test("More appearances than a daemon's cache holds are not kept")
    func boundsAppearances() throws {
        var script = Script()
        try script.run()
        let browser = try script.browser()
        for number in 0...AvahiServiceTable.appearanceLimit { script.report(.appeared(browser, key("s\(number)"))) }
        let last = key("s\(AvahiServiceTable.appearanceLimit)")
        script.ask(.want(instanceName: last.instanceName))
        script.report(.failed(try script.resolver(key("s0")), Int32(AVAHI_ERR_TIMEOUT)))
        #expect(!script.objects.values.contains(.resolver(last)))
    }

    @Test("The first look around is over when all known services were answered")
    func settles() throws {
        var script = Script()
        try script.run()
        let browser = try script.browser()
        script.report(.appeared(browser, key("x")))
        script.report(.allForNow(browser))
        #expect(script.takeEmitted() == [.available])
        script.report(.answered(try script.resolver(key("x")), try answer(1)))
        #expect(script.takeEmitted() == [found("x", try answer(1)), .settled])
    }

    @Test("A service that does not answer holds the first look around open for six seconds at most")
    func settlesWithoutAnswer() throws {
        var script = Script()
        try script.run()
        script.report(.appeared(try script.browser(), key("x")))
        script.report(.allForNow(try script.browser()))
        script.advance(by: .seconds(6))
        #expect(script.takeEmitted() == [.available, .settled])
    }

    @Test("A failed resolver is tried again after 1, 2, 5, 15 and 60 s, and then rests until somebody asks")
    func retriesResolvers() throws {
        var script = Script()
        try script.run()
        script.report(.appeared(try script.browser(), key("x")))
        for pause: Duration in [.seconds(1), .seconds(2), .seconds(5), .seconds(15), .seconds(60)] {
            script.report(.failed(try script.resolver(key("x")), Int32(AVAHI_ERR_TIMEOUT)))
            #expect(script.resolverCount == 0)
            #expect(script.machine.deadline == script.now + pause)
            script.advance(by: pause)
        }
        script.report(.failed(try script.resolver(key("x")), Int32(AVAHI_ERR_TIMEOUT)))
        #expect(script.machine.deadline == nil)
        script.ask(.want(instanceName: "x"))
        _ = try script.resolver(key("x"))
    }

    @Test("Who asks gets a fresh answer, before all that wait in the queue")
    func answersFirst() throws {
        var script = Script()
        try script.run()
        let browser = try script.browser()
        for number in 0..<40 { script.report(.appeared(browser, key("s\(number)"))) }
        script.ask(.want(instanceName: "s39"))
        script.report(.answered(try script.resolver(key("s0")), try answer(1)))
        script.report(.answered(try script.resolver(key("s39")), try answer(39)))
        #expect(script.answers.map(\.instanceName) == ["s39"])
    }

    @Test("Who asks for a service that was not seen yet is answered when it comes")
    func answersLater() throws {
        var script = Script()
        try script.run()
        script.ask(.want(instanceName: "x"))
        script.report(.appeared(try script.browser(), key("x")))
        script.report(.answered(try script.resolver(key("x")), try answer(1)))
        #expect(script.answers.map(\.instanceName) == ["x"])
        script.ask(.want(instanceName: "x"))
        script.ask(.forget(instanceName: "x"))
        script.report(.answered(try script.resolver(key("x")), try answer(2)))
        #expect(script.answers.count == 1)
    }

    @Test("After a new beginning services have five seconds to come back; those that do are not told again")
    func keepsThroughRestart() throws {
        var script = Script()
        try script.run()
        for name in ["back", "gone"] {
            script.report(.appeared(try script.browser(), key(name)))
            script.report(.answered(try script.resolver(key(name)), try answer(1)))
        }
        script.report(.failed(try script.client(), Int32(AVAHI_ERR_DISCONNECTED)))
        script.advance(by: .seconds(1))
        script.report(.clientChanged(try script.client(), .running))
        script.report(.allForNow(try script.browser()))
        _ = script.takeEmitted()
        script.report(.appeared(try script.browser(), key("back")))
        script.report(.answered(try script.resolver(key("back")), try answer(1)))
        script.advance(by: .seconds(4.9))
        #expect(script.takeEmitted().isEmpty)
        script.advance(by: .seconds(0.1))
        #expect(script.takeEmitted() == [.lost(instanceName: "gone")])
        #expect(script.machine.deadline == nil)
    }

    @Test("A browser that fails is made anew after a pause, without its resolvers")
    func recreatesBrowser() throws {
        var script = Script()
        try script.run()
        let first = try script.browser()
        script.report(.appeared(first, key("x")))
        script.report(.failed(first, Int32(AVAHI_ERR_FAILURE)))
        #expect(script.objects.count == 1)
        script.advance(by: .milliseconds(200))
        #expect(try script.browser() != first)
    }

    @Test(
        "Names that a daemon must not be asked about are ignored",
        arguments: ["", "a\nb", String(repeating: "x", count: 64)]
    )
    func ignoresBadNames(name: String) throws {
        var script = Script()
        try script.run()
        script.report(.appeared(try script.browser(), key(name)))
        #expect(script.resolverCount == 0)
    }
}
