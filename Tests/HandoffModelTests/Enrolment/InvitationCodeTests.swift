import HandoffModel
import Testing

@Suite("The code of an invitation")
struct InvitationCodeTests {
    private static let bytes: [UInt8] = [0x00, 0x44, 0x32, 0x14, 0xc7, 0x42, 0x54, 0xb6, 0x35, 0xcf]

    private let code: InvitationCode

    init() throws {
        code = try #require(InvitationCode(bytes: Self.bytes))
    }

    @Test("is written in four groups of four, in Crockford's base32")
    func written() {
        #expect(code.text == "0123-4567-89AB-CDEF")
        let highest = InvitationCode(bytes: [UInt8](repeating: 0xff, count: 10))
        #expect(highest?.text == "ZZZZ-ZZZZ-ZZZZ-ZZZZ")
    }

    @Test(
        "is read however people type it",
        arguments: [
            "0123-4567-89AB-CDEF", "0123456789ABCDEF", "0123-4567-89ab-cdef", " 0123 4567 89ab cdef\t",
            "Oi23-4567-89AB-CDEF", "oL23-4567-89AB-CDEF", "OI23--4567--89AB--CDEF-", "0123–4567—89AB‐CDEF\u{a0}",
        ]
    )
    func typed(_ text: String) throws {
        #expect(try InvitationCode(typed: text) == code)
    }

    @Test(
        "is refused where it is none, without a word of what was typed",
        arguments: [
            "", "0123-4567-89AB-CDE", "0123-4567-89AB-CDEF0", "U123-4567-89AB-CDEF", "0123-4567-89AB-CDE!",
            "0123-4567-89AB-CDEÉ", "０123-4567-89AB-CDEF", String(repeating: "0", count: 100_000),
        ]
    )
    func malformed(_ text: String) {
        #expect {
            try InvitationCode(typed: text)
        } throws: { error in
            guard let error = error as? EnrolmentError, error.code == .malformedCode else { return false }
            return !error.description.contains("0123") && error.description.count < 120
        }
    }

    @Test("survives being written and read, whatever it is")
    func roundTrip() throws {
        var generator = SystemRandomNumberGenerator()
        for _ in 0..<200 {
            let bytes = (0..<10).map { _ in UInt8.random(in: 0...255, using: &generator) }
            let code = try #require(InvitationCode(bytes: bytes))
            #expect(try InvitationCode(typed: code.text).bytes == bytes)
        }
        #expect(InvitationCode(bytes: [1, 2, 3]) == nil)
    }

    @Test("is told by none of its descriptions")
    func secret() {
        var dumped = ""
        dump(code, to: &dumped)
        for text in ["\(code)", String(reflecting: code), dumped, "\([code])"] {
            #expect(!text.contains("0123") && !text.contains("68"))
        }
    }
}
