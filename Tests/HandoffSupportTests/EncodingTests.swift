import HandoffSupport
import Testing

@Suite("Addresses and encodings")
struct EncodingTests {
    @Test(
        "Addresses are read and written as people write them",
        arguments: [
            ("10.0.0.7", "10.0.0.7:80", UInt32(0)), ("::1", "[::1]:80", 0), ("fe80::1%lo", "[fe80::1%lo]:80", 1),
            ("2001:db8::1%1", "[2001:db8::1]:80", 0),
        ]
    )
    func readsAddresses(_ text: String, _ description: String, scope: UInt32) throws {
        let address = try #require(SocketAddress(numeric: text, port: 80))
        #expect(address.description == description)
        #expect(address.scope == scope)
    }

    @Test(
        "What is no numeric address is refused",
        arguments: [
            "", "10.0.0", "10.0.0.256", "host", "[::1]", "::1%nowhere", "10.0.0.7%lo", "fe80::1%",
        ]
    )
    func refusesAddresses(_ text: String) {
        #expect(SocketAddress(numeric: text, port: 80) == nil)
    }

    @Test(
        "The test vectors of RFC 4648, without padding",
        arguments: [
            ("", "", "", ""), ("f", "my", "Zg", "66"), ("fo", "mzxq", "Zm8", "666f"),
            ("foo", "mzxw6", "Zm9v", "666f6f"),
            ("foob", "mzxw6yq", "Zm9vYg", "666f6f62"), ("fooba", "mzxw6ytb", "Zm9vYmE", "666f6f6261"),
            ("foobar", "mzxw6ytboi", "Zm9vYmFy", "666f6f626172"),
        ]
    )
    func encodes(_ text: String, base32: String, base64: String, hexadecimal: String) {
        let bytes = Array(text.utf8)
        #expect(BaseEncoding.base32(bytes) == base32)
        #expect(BaseEncoding.base64URL(bytes) == base64)
        #expect(BaseEncoding.hexadecimal(bytes) == hexadecimal)
        #expect(BaseEncoding.decodeBase32(base32.uppercased()) == bytes)
        #expect(BaseEncoding.decodeBase64URL(base64) == bytes)
        #expect(BaseEncoding.decodeHexadecimal(hexadecimal) == bytes)
    }

    @Test("Each value has one encoding: foreign digits, left-over digits and bits are refused")
    func refusesOthers() {
        for text in ["m", "mz1", "mz", "my=", "mzx"] { #expect(BaseEncoding.decodeBase32(text) == nil, "\(text)") }
        for text in ["Z", "Zh", "Zg==", "Zm+v"] { #expect(BaseEncoding.decodeBase64URL(text) == nil, "\(text)") }
        for text in ["6", "6G", "6A"] { #expect(BaseEncoding.decodeHexadecimal(text) == nil, "\(text)") }
    }
}
