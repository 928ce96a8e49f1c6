import HandoffModel
import Testing

@Suite("When to dial")
struct DialScheduleTests {
    private let peer = LinkFixture.b

    @Test("A service is dialled once when it appears, not again while that goes on")
    func dialledOnce() {
        var schedule = DialSchedule<String>()
        schedule.found("h-a", at: .zero)
        #expect(schedule.takeDue(at: .zero) == ["h-a"])
        schedule.found("h-a", at: .seconds(1))
        #expect(schedule.takeDue(at: .seconds(1)) == [])
        #expect(schedule.deadline == nil)
    }

    @Test("Failures are retried with pauses that grow to a minute, and a changed record gets a new chance at once")
    func backsOff() throws {
        var generator = SystemRandomNumberGenerator()
        var schedule = DialSchedule<String>()
        schedule.found("h-a", at: .zero)
        var now = Duration.zero
        var pauses: [Duration] = []
        for _ in 0..<10 {
            #expect(schedule.takeDue(at: now) == ["h-a"])
            schedule.failed("h-a", with: .unreachable, at: now, using: &generator)
            let next = try #require(schedule.deadline)
            pauses.append(next - now)
            now = next
        }
        #expect(try #require(pauses.first) <= .seconds(1))
        #expect(try #require(pauses.last) >= .seconds(30))
        #expect(try #require(pauses.max()) <= .seconds(60))
        #expect(schedule.failure(of: "h-a") == .unreachable)
        schedule.found("h-a", at: now)
        #expect(schedule.deadline == now)
    }

    @Test("A linked service is not dialled, whoever dialled, and is again some time after its link ended")
    func linked() throws {
        var generator = SystemRandomNumberGenerator()
        var schedule = DialSchedule<String>()
        schedule.found("h-a", at: .zero)
        schedule.linked("h-a", to: peer)
        #expect(schedule.takeDue(at: .seconds(9)) == [])
        // A dial that was under way meanwhile and failed changes nothing.
        schedule.failed("h-a", with: .connectionLost, at: .zero, using: &generator)
        #expect(schedule.state(of: "h-a") == .linked(peer))
        schedule.ended(peer, at: .seconds(10), using: &generator)
        #expect(try #require(schedule.deadline) <= .seconds(11))
    }

    @Test("A service that is announced no more is forgotten")
    func lost() {
        var generator = SystemRandomNumberGenerator()
        var schedule = DialSchedule<String>()
        schedule.found("h-a", at: .zero)
        schedule.lost("h-a")
        schedule.failed("h-a", with: .unreachable, at: .zero, using: &generator)
        schedule.linked("h-a", to: peer)
        #expect(schedule.takeDue(at: .seconds(100)) == [])
        #expect(schedule.state(of: "h-a") == nil)
    }
}
