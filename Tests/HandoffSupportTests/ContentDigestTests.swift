import FoundationEssentials
import HandoffSupport
import Testing

@Suite("A content digest")
struct ContentDigestTests {
    private let text = "00ff" + String(repeating: "0a", count: 30)

    @Test("is written and read as 64 lower-case digits")
    func hexadecimal() throws {
        let digest = try #require(ContentDigest(text))
        #expect(digest.description == text)
        #expect(digest.bytes.prefix(3) == [0x00, 0xFF, 0x0A])
        #expect(ContentDigest(bytes: digest.bytes) == digest)
    }

    @Test("is nothing else", arguments: ["", "00", "zz", "../../etc/passwd"])
    func refused(suffix: String) {
        #expect(ContentDigest(text + suffix) == (suffix.isEmpty ? ContentDigest(text) : nil))
        #expect(ContentDigest(String(text.dropLast(2)) + suffix.prefix(1)) == nil)
        #expect(ContentDigest(text.uppercased()) == nil)
        #expect(ContentDigest(bytes: [1, 2, 3]) == nil)
    }

    @Test("is a string in JSON, and no other string is read as one")
    func json() throws {
        let digest = try #require(ContentDigest(text))
        let encoded = try JSONEncoder().encode([digest])
        #expect(String(decoding: encoded, as: UTF8.self) == "[\"\(text)\"]")
        #expect(try JSONDecoder().decode([ContentDigest].self, from: encoded) == [digest])
        #expect(throws: DecodingError.self) {
            try JSONDecoder().decode([ContentDigest].self, from: Data("[\"00\"]".utf8))
        }
    }
}
