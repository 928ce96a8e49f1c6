import FoundationEssentials
import HandoffModel
import Testing

@Suite("An invitation")
struct InvitationLimitsTests {
    private var limits = InvitationLimits(now: .seconds(100))

    @Test("stands for five minutes")
    func lifetime() {
        #expect(limits.turn(now: .seconds(100)) == .now)
        #expect(limits.turn(now: .seconds(399.9)) == .now)
        #expect(limits.turn(now: .seconds(400)) == .over)
    }

    @Test("lets a second pass after each wrong code")
    mutating func pauses() {
        limits.recordWrongTry(now: .seconds(110))
        #expect(limits.turn(now: .seconds(110)) == .after(.seconds(1)))
        #expect(limits.turn(now: .seconds(110.75)) == .after(.seconds(0.25)))
        #expect(limits.turn(now: .seconds(111)) == .now)
    }

    @Test("ends with the twentieth wrong code")
    mutating func exhausted() {
        for try_ in 1...19 { limits.recordWrongTry(now: .seconds(100 + try_)) }
        #expect(limits.turn(now: .seconds(130)) == .now)
        limits.recordWrongTry(now: .seconds(130))
        #expect(limits.isExhausted)
        #expect(limits.turn(now: .seconds(140)) == .over)
        let isUsable = limits.use(now: .seconds(140))
        #expect(!isUsable)
    }

    @Test("is good for one use")
    mutating func use() {
        let uses = (limits.use(now: .seconds(101)), limits.use(now: .seconds(101)))
        #expect(uses == (true, false))
        #expect(limits.turn(now: .seconds(102)) == .over)
    }

    @Test("cannot be used when its time is over")
    mutating func late() {
        let isUsable = limits.use(now: .seconds(400))
        #expect(!isUsable)
    }

    @Test(
        "bears clocks that are an hour apart, and not those that are a day",
        arguments: [
            (0, "no second", false), (3600, "1 hour", false), (-3600, "1 hour", false),
            (3660, "1 hour 1 minute", false),
            (3661, "1 hour 1 minute", true), (-86_400, "1 day", true), (93_600, "1 day 2 hours", true),
            (119, "1 minute 59 seconds", false), (1e300, "106751991167300 days 15 hours", true),
        ]
    )
    func clocks(seconds: Double, words: String, isTooLarge: Bool) {
        let ours = Date(timeIntervalSince1970: 1_800_000_000)
        let difference = ClockDifference(ours: ours, theirs: ours.addingTimeInterval(seconds))
        #expect(difference.description == words)
        #expect(difference.isTooLarge == isTooLarge)
    }
}
