import HandoffModel
import Testing

@Suite("Tokens for streams")
struct StreamTokensTests {
    private let holder: [UInt8] = [1]

    @Test("A token is good once, for its holder alone, and for 60 s")
    func redeems() {
        var tokens = StreamTokens<String>()
        var generator = SystemRandomNumberGenerator()
        let (first, second) = (StreamToken(using: &generator), StreamToken(using: &generator))
        tokens.issue(first, to: holder, at: .zero, for: "first")
        tokens.issue(second, to: holder, at: .zero, for: "second")
        #expect(tokens.redeem(first, by: [2], at: .zero) == nil)
        // That somebody else has shown it does not take it from its holder.
        #expect(tokens.redeem(first, by: holder, at: .seconds(59)) == "first")
        #expect(tokens.redeem(first, by: holder, at: .seconds(59)) == nil)
        #expect(tokens.redeem(second, by: holder, at: .seconds(60)) == nil)
    }

    @Test("What is over is let go of, and it is known when")
    func expires() {
        final class Held: Sendable {}
        var tokens = StreamTokens<Held>()
        var generator = SystemRandomNumberGenerator()
        #expect(tokens.deadline == nil)
        weak var held: Held?
        do {
            let grant = Held()
            held = grant
            tokens.issue(StreamToken(using: &generator), to: holder, at: .seconds(1), for: grant)
        }
        #expect(tokens.deadline == .seconds(61))
        tokens.removeExpired(at: .seconds(60))
        #expect(held != nil)
        tokens.removeExpired(at: .seconds(61))
        #expect(held == nil)
        #expect(tokens.deadline == nil)
    }

    @Test("No more than 128 are out: with one more, the oldest is void")
    func isBounded() {
        var tokens = StreamTokens<Int>()
        var generator = SystemRandomNumberGenerator()
        let all = (0...128).map { _ in StreamToken(using: &generator) }
        for (number, token) in all.enumerated() { tokens.issue(token, to: holder, at: .zero, for: number) }
        #expect(tokens.redeem(all[0], by: holder, at: .zero) == nil)
        #expect(tokens.redeem(all[1], by: holder, at: .zero) == 1)
        #expect(tokens.redeem(all[128], by: holder, at: .zero) == 128)
    }
}
