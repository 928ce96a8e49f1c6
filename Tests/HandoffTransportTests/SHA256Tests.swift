import HandoffSupport
import Testing

@testable import HandoffTransport

@Suite("SHA-256, piece by piece")
struct SHA256Tests {
    private func hash(_ pieces: [[UInt8]]) -> ContentDigest {
        var hasher = SHA256()
        for piece in pieces { piece.withUnsafeBytes { hasher.update($0) } }
        return hasher.digest
    }

    @Test(
        "gives the digests of FIPS 180-4",
        arguments: [
            ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
            ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
            (
                "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
                "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
            ),
        ]
    )
    func knownAnswers(text: String, digest: String) {
        #expect(hash([Array(text.utf8)]).description == digest)
    }

    @Test("does not depend on where the pieces begin", arguments: [1, 63, 64, 65, 1_000])
    func pieces(length: Int) {
        let content = (0..<3_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        let pieces = stride(from: 0, to: content.count, by: length).map {
            Array(content[$0..<min($0 + length, content.count)])
        }
        #expect(hash(pieces) == ContentDigest(bytes: Crypto.sha256(content)))
    }

    @Test("tells the digest of a beginning and goes on")
    func beginnings() {
        var hasher = SHA256()
        for (piece, whole) in [("a", "a"), ("b", "ab"), ("c", "abc")] {
            Array(piece.utf8).withUnsafeBytes { hasher.update($0) }
            #expect(hasher.digest == ContentDigest(bytes: Crypto.sha256(Array(whole.utf8))))
            #expect(hasher.digest == hasher.digest)
        }
    }
}
