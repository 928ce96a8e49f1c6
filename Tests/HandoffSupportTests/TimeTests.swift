import HandoffSupport
import HandoffTestKit
import Testing

@Suite("Time", .timeLimit(.minutes(1)))
struct TimeTests {
    @Test("An alarm rings once at its time, and only the last one that was set")
    func rings() async throws {
        let clock = ManualClock()
        let rung = BoundedChannel<Int>(capacity: 8)
        var alarm = Alarm(clock: clock.clock)
        alarm.set(at: .seconds(5)) { _ = try? rung.offer(5) }
        alarm.set(at: .seconds(7)) { _ = try? rung.offer(7) }
        try await clock.waitForSleep(of: .seconds(7))
        clock.advance(by: .seconds(7))
        #expect(try await rung.next() == 7)
        alarm.set(at: .seconds(3)) { _ = try? rung.offer(3) }
        #expect(try await rung.next() == 3, "a moment that is over means at once")
        alarm.set(at: .seconds(9)) { _ = try? rung.offer(9) }
        alarm.cancel()
        clock.advance(by: .seconds(9))
        rung.finish()
        #expect(try await rung.next() == nil)
    }

    @Test("A deadline throws its error, cancels the work and waits for it")
    func limits() async throws {
        let clock = ManualClock()
        let work = Task {
            try await withDeadline(.seconds(2), clock: clock.clock, timeoutError: ChannelClosed()) {
                try await BoundedChannel<Void>(capacity: 1).next()
            }
        }
        try await clock.waitForSleep(of: .seconds(2))
        clock.advance(by: .seconds(2))
        await #expect(throws: ChannelClosed()) { try await work.value }
        let result = try await withDeadline(.seconds(2), clock: clock.clock, timeoutError: ChannelClosed()) { 4 }
        #expect(result == 4)
    }

    @Test("Pauses double up to the limit, with at most half of each left to chance")
    func backsOff() {
        var backoff = Backoff(first: .seconds(1), limit: .seconds(60))
        var generator = SystemRandomNumberGenerator()
        for step in [1, 2, 4, 8, 16, 32, 60, 60] {
            let pause = backoff.pause(using: &generator)
            #expect(pause >= .seconds(step) / 2 && pause <= .seconds(step))
        }
        backoff.reset()
        #expect(backoff.pause(using: &generator) <= .seconds(1))
    }
}
