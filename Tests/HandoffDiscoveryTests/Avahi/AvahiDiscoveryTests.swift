import Glibc
import HandoffDiscovery
import Testing

/// The engine's thread against a bus that does not exist: no daemon is needed, and none is found by chance.
@Suite struct AvahiDiscoveryTests {
    private static let hasNoBus: Void = {
        setenv("DBUS_SYSTEM_BUS_ADDRESS", "unix:path=/nonexistent/handoff-tests/bus", 1)
    }()

    private func makeDiscovery() throws -> AvahiDiscovery {
        Self.hasNoBus
        return try AvahiDiscovery(type: "_handoff-test._tcp")
    }

    @Test("Without a bus it says so, refuses who asks, and ends when cancelled", .timeLimit(.minutes(1)))
    func tellsMissingBus() async throws {
        let discovery = try makeDiscovery()
        try discovery.announce(ServiceAnnouncement(instanceName: "h-one", port: 4711, text: [])) { $0 }
        let running = Task { try await discovery.run() }
        #expect(try await discovery.events.next() == .unavailable(DiscoveryError(.noBus, "")))
        await #expect(throws: DiscoveryError(.noBus, "")) {
            _ = try await discovery.resolve("x", within: .seconds(30))
        }
        running.cancel()
        try await running.value
        #expect(try await discovery.events.next() == nil)
    }

    @Test("Stopping in the middle of an event, again and again, ends thread and sequence", .timeLimit(.minutes(1)))
    func stopsAtAnyMoment() async throws {
        for round in 0..<100 {
            let discovery = try makeDiscovery()
            let running = Task { try await discovery.run() }
            let asking = Task { try await discovery.resolve("x", within: .seconds(30)) }
            if round.isMultiple(of: 2) { _ = try await discovery.events.next() }
            running.cancel()
            asking.cancel()
            try await running.value
            await #expect(throws: (any Error).self) { _ = try await asking.value }
            while try await discovery.events.next() != nil {}
        }
    }

    @Test("What is asked before the start waits no longer than its deadline", .timeLimit(.minutes(1)))
    func resolvesWithDeadline() async throws {
        let discovery = try makeDiscovery()
        await #expect(throws: DiscoveryError(.timedOut, "")) {
            _ = try await discovery.resolve("x", within: .milliseconds(10))
        }
    }

    @Test("An announcement that breaks the rules is refused where it is made")
    func refusesInvalid() throws {
        let discovery = try makeDiscovery()
        #expect(throws: DiscoveryError(.invalidAnnouncement, "")) {
            try discovery.announce(ServiceAnnouncement(instanceName: "", port: 1, text: [])) { $0 }
        }
    }
}
