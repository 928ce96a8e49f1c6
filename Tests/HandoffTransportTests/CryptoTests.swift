import HandoffSupport
import Testing

@testable import HandoffTransport

@Suite("Crypto")
struct CryptoTests {
    @Test("SHA-256 is that of FIPS 180-4's example")
    func sha256() {
        let expected = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
        #expect(BaseEncoding.hexadecimal(Crypto.sha256(Array("abc".utf8))) == expected)
    }

    @Test("HMAC-SHA256 is that of RFC 4231, test case 2")
    func hmac() {
        let code = Crypto.hmacSHA256(key: Array("Jefe".utf8), message: Array("what do ya want for nothing?".utf8))
        let expected = "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
        #expect(BaseEncoding.hexadecimal(code) == expected)
    }

    @Test("Random bytes are as many as asked for, and differ")
    func random() {
        #expect(Crypto.randomBytes(0).isEmpty)
        #expect(Crypto.randomBytes(32).count == 32)
        #expect(Crypto.randomBytes(32) != Crypto.randomBytes(32))
    }

    @Test("Secrets are equal when every byte is")
    func equality() {
        #expect(Crypto.areEqual([1, 2], [1, 2]))
        #expect(!Crypto.areEqual([1, 2], [1, 3]) && !Crypto.areEqual([1], [1, 2]))
    }
}
