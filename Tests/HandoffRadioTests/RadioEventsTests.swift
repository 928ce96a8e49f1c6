import Testing

@testable import HandoffRadio

struct RadioEventsTests {
    private static func sample(_ number: Int) throws -> RadioEvent {
        let tag = try #require(RadioPayload([1]))
        return .sample(RadioSample(tag: tag, rssi: -50, time: .seconds(number)))
    }

    @Test("A slow consumer is told the latest state and the latest samples")
    func slowConsumer() async throws {
        let events = RadioEvents()
        events.post(.state(.noService))
        for number in 0..<1000 { events.post(try Self.sample(number)) }
        events.post(.state(.available))
        events.finish()
        #expect(try await events.next() == .state(.available))
        var count = 0
        var last: RadioEvent?
        while let event = try await events.next() {
            if count == 0 { #expect(event == (try Self.sample(1000 - RadioEvents.maximumSamples))) }
            count += 1
            last = event
        }
        #expect(count == RadioEvents.maximumSamples)
        #expect(last == (try Self.sample(999)))
    }

    @Test("A tag has 1 to 10 bytes", arguments: [(0, false), (1, true), (10, true), (11, false)])
    func payloadSize(count: Int, isOne: Bool) {
        #expect((RadioPayload(Array(repeating: 0, count: count)) != nil) == isOne)
    }

    @Test("Each state has its own words")
    func words() {
        #expect(Set(RadioState.allCases.map(\.description)).count == RadioState.allCases.count)
    }
}
