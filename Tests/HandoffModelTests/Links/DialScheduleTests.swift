import HandoffModel
import Testing

@Suite("When to dial")
struct DialScheduleTests {
    private let peer = LinkFixture.b

    @Test("A service is dialled once when it appears, not again while that goes on")
    func dialledOnce() {
        var schedule = DialSchedule()
        schedule.found("h-a", at: .zero)
        #expect(schedule.takeDue(at: .zero, room: 64) == ["h-a"])
        schedule.found("h-a", at: .seconds(1))
        #expect(schedule.takeDue(at: .seconds(1), room: 64) == [])
        #expect(schedule.deadline(room: 64) == nil)
    }

    @Test("Failures are retried with pauses that grow to a minute, and a changed record gets a new chance at once")
    func backsOff() throws {
        var generator = SystemRandomNumberGenerator()
        var schedule = DialSchedule()
        schedule.found("h-a", at: .zero)
        var now = Duration.zero
        var pauses: [Duration] = []
        for _ in 0..<10 {
            #expect(schedule.takeDue(at: now, room: 64) == ["h-a"])
            schedule.failed("h-a", with: .unreachable, at: now, using: &generator)
            let next = try #require(schedule.deadline(room: 64))
            pauses.append(next - now)
            now = next
        }
        #expect(try #require(pauses.first) <= .seconds(1))
        #expect(try #require(pauses.last) >= .seconds(30))
        #expect(try #require(pauses.max()) <= .seconds(60))
        #expect(schedule.failure(of: "h-a") == .unreachable)
        schedule.found("h-a", at: now)
        #expect(schedule.deadline(room: 64) == now)
    }

    @Test("A linked service is not dialled, whoever dialled, and is again some time after its link ended")
    func linked() throws {
        var generator = SystemRandomNumberGenerator()
        var schedule = DialSchedule()
        schedule.found("h-a", at: .zero)
        schedule.linked("h-a", to: peer)
        #expect(schedule.takeDue(at: .seconds(9), room: 64) == [])
        // A dial that was under way meanwhile and failed changes nothing.
        schedule.failed("h-a", with: .connectionLost, at: .zero, using: &generator)
        #expect(schedule.state(of: "h-a") == .linked(peer))
        schedule.ended(peer, at: .seconds(10), using: &generator)
        #expect(try #require(schedule.deadline(room: 64)) <= .seconds(11))
    }

    @Test("No more are dialled at once than there is room for, and not more than 32; the next ones follow as some end")
    func bounded() {
        var generator = SystemRandomNumberGenerator()
        var schedule = DialSchedule()
        for number in 100..<200 { schedule.found("h-\(number)", at: .zero) }
        #expect(schedule.takeDue(at: .zero, room: 0) == [])
        #expect(schedule.deadline(room: 0) == nil)
        let first = schedule.takeDue(at: .zero, room: 1000)
        #expect(first.count == 32)
        #expect(schedule.takeDue(at: .zero, room: 1000) == [])
        #expect(schedule.deadline(room: 1000) == nil)
        schedule.linked(first[0], to: peer)
        schedule.failed(first[1], with: .unreachable, at: .zero, using: &generator)
        #expect(schedule.deadline(room: 1000) == .zero)
        #expect(schedule.takeDue(at: .zero, room: 31) == ["h-132"])
        #expect(schedule.deadline(room: 31) == nil)
    }

    @Test("A peer without room is asked again after a minute, later after a quarter of an hour")
    func busy() throws {
        var generator = SystemRandomNumberGenerator()
        var schedule = DialSchedule()
        schedule.found("h-a", at: .zero)
        var now = Duration.zero
        var pauses: [Duration] = []
        for _ in 0..<10 {
            #expect(schedule.takeDue(at: now, room: 64) == ["h-a"])
            schedule.failed("h-a", with: .busy, at: now, using: &generator)
            let next = try #require(schedule.deadline(room: 64))
            pauses.append(next - now)
            now = next
        }
        #expect(try #require(pauses.first) >= .seconds(30))
        #expect(try #require(pauses.last) >= .seconds(450))
        #expect(try #require(pauses.max()) <= .seconds(900))
    }

    @Test("A service that is announced no more is forgotten")
    func lost() {
        var generator = SystemRandomNumberGenerator()
        var schedule = DialSchedule()
        schedule.found("h-a", at: .zero)
        schedule.lost("h-a")
        schedule.failed("h-a", with: .unreachable, at: .zero, using: &generator)
        schedule.linked("h-a", to: peer)
        #expect(schedule.takeDue(at: .seconds(100), room: 64) == [])
        #expect(schedule.state(of: "h-a") == nil)
    }
}
