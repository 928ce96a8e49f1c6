import Testing

@testable import HandoffDiscovery

@Suite struct DiscoveryEventsTests {
    private func service(_ name: String, host: String = "a.local") -> DiscoveredService {
        DiscoveredService(instanceName: name, hostName: host, addresses: [], text: [])
    }

    private func drain(_ events: DiscoveryEvents) async throws -> [DiscoveryEvent] {
        events.finish()
        var all: [DiscoveryEvent] = []
        for try await event in events { all.append(event) }
        return all
    }

    @Test("A slow consumer gets the latest state of each service, in the place of the first")
    func coalesces() async throws {
        let events = DiscoveryEvents()
        events.post(.available)
        events.post(.found(service("one")))
        events.post(.found(service("two")))
        events.post(.settled)
        events.post(.found(service("one", host: "b.local")))
        let expected: [DiscoveryEvent] = [
            .available, .found(service("one", host: "b.local")), .found(service("two")), .settled,
        ]
        #expect(try await drain(events) == expected)
    }

    @Test("A service that comes and goes before the consumer looks leaves nothing behind")
    func forgetsTheUnseen() async throws {
        let events = DiscoveryEvents()
        for number in 0..<1000 {
            events.post(.found(service("s\(number)")))
            events.post(.lost(instanceName: "s\(number)"))
        }
        #expect(try await drain(events).isEmpty)
    }

    @Test("A service that the consumer knows is told as lost, even if it came back and went in between")
    func tellsLoss() async throws {
        let events = DiscoveryEvents()
        events.post(.found(service("one")))
        #expect(try await events.next() == .found(service("one")))
        events.post(.lost(instanceName: "one"))
        events.post(.found(service("one", host: "b.local")))
        events.post(.lost(instanceName: "one"))
        #expect(try await drain(events) == [.lost(instanceName: "one")])
    }

    @Test("A waiting consumer is woken by an event, and by its own cancellation")
    func wakes() async throws {
        let events = DiscoveryEvents()
        let first = Task { try await events.next() }
        events.post(.settled)
        #expect(try await first.value == .settled)
        let second = Task { try await events.next() }
        second.cancel()
        await #expect(throws: CancellationError.self) { try await second.value }
    }
}
