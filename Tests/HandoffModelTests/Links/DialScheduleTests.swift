import HandoffModel
import Testing

@Suite("When to dial")
struct DialScheduleTests {
    private let peer = LinkFixture.b

    private func salt(_ byte: UInt8) -> DiscoverySalt {
        guard let salt = DiscoverySalt([UInt8](repeating: byte, count: 8)) else { preconditionFailure("8 bytes") }
        return salt
    }

    @Test("A service is dialled once when it appears, not again while that goes on")
    func dialledOnce() {
        var schedule = DialSchedule<String>()
        schedule.found("h-a", salt: salt(1), at: .zero)
        #expect(schedule.takeDue(at: .zero, room: 64) == ["h-a"])
        schedule.found("h-a", salt: salt(1), at: .seconds(1))
        #expect(schedule.takeDue(at: .seconds(1), room: 64) == [])
        #expect(schedule.deadline(room: 64) == nil)
    }

    /// The pauses between ten tries that fail in a row.
    private func pauses(
        after failure: PairingFailure,
        _ schedule: inout DialSchedule<String>
    ) throws -> (pauses: [Duration], end: Duration) {
        var generator = SystemRandomNumberGenerator()
        schedule.found("h-a", salt: salt(1), at: .zero)
        var now = Duration.zero
        var pauses: [Duration] = []
        for _ in 0..<10 {
            #expect(schedule.takeDue(at: now, room: 64) == ["h-a"])
            schedule.failed("h-a", with: failure, at: now, using: &generator)
            let next = try #require(schedule.deadline(room: 64))
            pauses.append(next - now)
            now = next
        }
        return (pauses, now)
    }

    @Test("Failures are retried with pauses that grow to a minute, and a changed record gets a new chance at once")
    func backsOff() throws {
        var schedule = DialSchedule<String>()
        let (pauses, now) = try pauses(after: .unreachable, &schedule)
        #expect(try #require(pauses.first) <= .seconds(1))
        #expect(try #require(pauses.last) >= .seconds(30))
        #expect(try #require(pauses.max()) <= .seconds(60))
        #expect(schedule.failure(of: "h-a") == .unreachable)
        schedule.found("h-a", salt: salt(1), at: now)
        #expect(schedule.deadline(room: 64) == now)
    }

    @Test("A linked service is not dialled, whoever dialled, and is again some time after its link ended")
    func linked() throws {
        var generator = SystemRandomNumberGenerator()
        var schedule = DialSchedule<String>()
        schedule.found("h-a", salt: salt(1), at: .zero)
        schedule.linked("h-a", to: peer)
        #expect(schedule.takeDue(at: .seconds(9), room: 64) == [])
        // A dial that was under way meanwhile and failed changes nothing.
        schedule.failed("h-a", with: .connectionLost, at: .zero, using: &generator)
        #expect(schedule.state(of: "h-a") == .linked(peer))
        schedule.ended(peer, at: .seconds(10), using: &generator)
        #expect(try #require(schedule.deadline(room: 64)) <= .seconds(11))
    }

    @Test("A service that is announced no more is forgotten")
    func lost() {
        var generator = SystemRandomNumberGenerator()
        var schedule = DialSchedule<String>()
        schedule.found("h-a", salt: salt(1), at: .zero)
        schedule.lost("h-a")
        schedule.failed("h-a", with: .unreachable, at: .zero, using: &generator)
        schedule.linked("h-a", to: peer)
        #expect(schedule.takeDue(at: .seconds(100), room: 64) == [])
        #expect(schedule.state(of: "h-a") == nil)
    }

    @Test("Sixteen services are dialled at once, the others as these come to an end")
    func bounded() throws {
        var generator = SystemRandomNumberGenerator()
        var schedule = DialSchedule<String>()
        for number in 10..<40 { schedule.found("h-\(number)", salt: salt(UInt8(number)), at: .seconds(number)) }
        #expect(schedule.takeDue(at: .seconds(100), room: 64) == (10..<26).map { "h-\($0)" })
        #expect(schedule.takeDue(at: .seconds(100), room: 64) == [])
        #expect(schedule.deadline(room: 64) == nil)
        // The try goes on though its service is gone, even when that is back.
        schedule.lost("h-10")
        schedule.found("h-10", salt: salt(10), at: .seconds(101))
        #expect(schedule.takeDue(at: .seconds(101), room: 64) == [])
        schedule.dialEnded("h-11")
        schedule.linked("h-11", to: peer)
        #expect(schedule.deadline(room: 64) == .seconds(26))
        #expect(schedule.takeDue(at: .seconds(101), room: 64) == ["h-26"])
        schedule.dialEnded("h-10")
        schedule.failed("h-10", with: .unreachable, at: .seconds(101), using: &generator)
        #expect(schedule.takeDue(at: .seconds(101), room: 64) == ["h-27"])
    }

    @Test("No more are dialled than there is room for, and nothing waits for its time while there is none")
    func keepsToRoom() {
        var schedule = DialSchedule<String>()
        for number in 10..<20 { schedule.found("h-\(number)", salt: salt(UInt8(number)), at: .seconds(number)) }
        #expect(schedule.takeDue(at: .seconds(100), room: 0) == [])
        #expect(schedule.deadline(room: 0) == nil)
        #expect(schedule.takeDue(at: .seconds(100), room: 2) == ["h-10", "h-11"])
        #expect(schedule.takeDue(at: .seconds(100), room: 2) == [])
        #expect(schedule.deadline(room: 2) == nil)
        #expect(schedule.deadline(room: 3) == .seconds(12))
    }

    @Test("A peer without room is asked again after a minute, later after a quarter of an hour")
    func busy() throws {
        var schedule = DialSchedule<String>()
        let (pauses, _) = try pauses(after: .busy, &schedule)
        #expect(try #require(pauses.first) >= .seconds(30))
        #expect(try #require(pauses.last) >= .seconds(450))
        #expect(try #require(pauses.max()) <= .seconds(900))
    }

    @Test("However many copies of a record wait, another record's service is dialled next")
    func takesTurns() {
        var schedule = DialSchedule<String>()
        for number in 100..<200 { schedule.found("h-\(number)", salt: salt(1), at: .zero) }
        #expect(schedule.takeDue(at: .zero, room: 64).count == DialSchedule<String>.dialLimit)
        schedule.found("h-real", salt: salt(2), at: .seconds(1))
        schedule.dialEnded("h-100")
        #expect(schedule.takeDue(at: .seconds(1), room: 64) == ["h-real"])
    }

    @Test("Copies push out each other, those first that have failed, and nobody else")
    func evictsCopies() {
        var generator = SystemRandomNumberGenerator()
        var schedule = DialSchedule<String>()
        #expect(schedule.found("h-real", salt: salt(2), at: .zero) == nil)
        #expect(schedule.found("h-linked", salt: salt(1), at: .zero) == nil)
        schedule.linked("h-linked", to: peer)
        for number in 2..<DialSchedule<String>.capacity {
            #expect(schedule.found("h-\(number)", salt: salt(1), at: .zero) == nil)
        }
        schedule.failed("h-7", with: .otherAccount, at: .zero, using: &generator)
        schedule.failed("h-real", with: .unreachable, at: .zero, using: &generator)
        #expect(schedule.found("h-new", salt: salt(1), at: .zero) == "h-7")
        for number in 0..<1000 { #expect(schedule.found("h-new-\(number)", salt: salt(1), at: .zero) != nil) }
        #expect(schedule.targets.count == DialSchedule<String>.capacity)
        #expect(schedule.state(of: "h-linked") == .linked(peer))
        #expect(schedule.failure(of: "h-real") == .unreachable)
        #expect(schedule.state(of: "h-7") == nil && schedule.state(of: "h-2") == nil)
    }
}
