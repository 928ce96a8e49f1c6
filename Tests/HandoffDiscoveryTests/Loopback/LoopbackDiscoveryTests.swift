import HandoffDiscovery
import HandoffSupport
import Testing

@Suite(.timeLimit(.minutes(1))) struct LoopbackDiscoveryTests {
    private func announcement(_ name: String) -> ServiceAnnouncement {
        ServiceAnnouncement(instanceName: name, port: 4711, text: [Array("v=1".utf8)])
    }

    private func service(_ name: String) throws -> DiscoveredService {
        let address = try #require(SocketAddress(octets: [127, 0, 0, 1], port: 4711))
        let text = announcement(name).text
        return DiscoveredService(instanceName: name, hostName: "localhost", addresses: [address], text: text)
    }

    private func expect(
        _ expected: [DiscoveryEvent],
        from discovery: LoopbackDiscovery,
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        for event in expected {
            #expect(try await discovery.events.next() == event, sourceLocation: sourceLocation)
        }
    }

    @Test("Two on one network see each other come and go, and themselves")
    func meet() async throws {
        let network = LoopbackNetwork()
        let (one, two) = (LoopbackDiscovery(network: network), LoopbackDiscovery(network: network))
        try one.announce(announcement("h-one")) { $0 }
        let runningOne = Task { try await one.run() }
        try await expect(
            [.available, .settled, .announced(instanceName: "h-one"), .found(try service("h-one"))],
            from: one
        )
        let runningTwo = Task { try await two.run() }
        try await expect([.available, .found(try service("h-one")), .settled], from: two)
        #expect(try await two.resolve("h-one", within: .seconds(10)) == service("h-one"))
        runningOne.cancel()
        try await runningOne.value
        try await expect([.lost(instanceName: "h-one")], from: two)
        #expect(try await one.events.next() == nil)
        runningTwo.cancel()
        try await runningTwo.value
    }

    @Test("A name that is taken is replaced by the fresh one, and a new announcement takes the old one's place")
    func collide() async throws {
        let network = LoopbackNetwork()
        let (one, two) = (LoopbackDiscovery(network: network), LoopbackDiscovery(network: network))
        try one.announce(announcement("h-same")) { $0 }
        let runningOne = Task { try await one.run() }
        #expect(try await one.resolve("h-same", within: .seconds(10)) == service("h-same"))
        let fresh = announcement("h-fresh")
        try two.announce(announcement("h-same")) { _ in fresh }
        let runningTwo = Task { try await two.run() }
        #expect(try await one.resolve("h-fresh", within: .seconds(10)) == service("h-fresh"))
        try two.announce(announcement("h-new")) { $0 }
        #expect(try await one.resolve("h-new", within: .seconds(10)) == service("h-new"))
        await #expect(throws: DiscoveryError(.timedOut, "")) {
            _ = try await one.resolve("h-fresh", within: .milliseconds(10))
        }
        two.withdraw()
        for running in [runningOne, runningTwo] {
            running.cancel()
            try await running.value
        }
    }

    @Test("Stopping in the middle of an event, again and again, ends everything")
    func stopAtAnyMoment() async throws {
        let network = LoopbackNetwork()
        for round in 0..<200 {
            let discovery = LoopbackDiscovery(network: network)
            try discovery.announce(announcement("h-\(round)")) { $0 }
            let running = Task { try await discovery.run() }
            if round.isMultiple(of: 2) { _ = try await discovery.events.next() }
            running.cancel()
            try await running.value
            while try await discovery.events.next() != nil {}
        }
        let last = LoopbackDiscovery(network: network)
        let running = Task { try await last.run() }
        try await expect([.available, .settled], from: last)
        running.cancel()
        try await running.value
    }
}
