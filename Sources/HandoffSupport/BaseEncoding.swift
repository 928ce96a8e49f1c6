/// RFC 4648 encodings without padding, as names and records on the wire use them.
public enum BaseEncoding {
    /// Lower-case base32 (RFC 4648 section 6), without padding.
    public static func base32(_ bytes: some Sequence<UInt8>) -> String {
        encode(bytes, bitsPerDigit: 5, alphabet: base32Alphabet)
    }

    /// Reads lower- or upper-case base32 without padding.
    ///
    /// - Returns: The bytes, or nil where a character is foreign or the last bits are not zero.
    public static func decodeBase32(_ text: some StringProtocol) -> [UInt8]? {
        decode(text.utf8.lazy.map { (65...90).contains($0) ? $0 + 32 : $0 }, bitsPerDigit: 5, alphabet: base32Alphabet)
    }

    /// URL-safe base64 (RFC 4648 section 5), without padding.
    public static func base64URL(_ bytes: some Sequence<UInt8>) -> String {
        encode(bytes, bitsPerDigit: 6, alphabet: base64URLAlphabet)
    }

    /// Reads URL-safe base64 without padding.
    ///
    /// - Returns: The bytes, or nil where a character is foreign or the last bits are not zero.
    public static func decodeBase64URL(_ text: some StringProtocol) -> [UInt8]? {
        decode(text.utf8, bitsPerDigit: 6, alphabet: base64URLAlphabet)
    }

    /// Lower-case hexadecimal.
    public static func hexadecimal(_ bytes: some Sequence<UInt8>) -> String {
        encode(bytes, bitsPerDigit: 4, alphabet: hexadecimalAlphabet)
    }

    /// Reads lower-case hexadecimal.
    ///
    /// - Returns: The bytes, or nil where a character is foreign or one is left over.
    public static func decodeHexadecimal(_ text: some StringProtocol) -> [UInt8]? {
        decode(text.utf8, bitsPerDigit: 4, alphabet: hexadecimalAlphabet)
    }

    private static let base32Alphabet = Array("abcdefghijklmnopqrstuvwxyz234567".utf8)
    private static let base64URLAlphabet = Array(
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8
    )
    private static let hexadecimalAlphabet = Array("0123456789abcdef".utf8)

    private static func encode(_ bytes: some Sequence<UInt8>, bitsPerDigit: Int, alphabet: [UInt8]) -> String {
        var digits: [UInt8] = []
        var buffer = 0
        var bits = 0
        for byte in bytes {
            buffer = (buffer << 8) | Int(byte)
            bits += 8
            while bits >= bitsPerDigit {
                bits -= bitsPerDigit
                digits.append(alphabet[buffer >> bits])
                buffer &= (1 << bits) - 1
            }
        }
        if bits > 0 { digits.append(alphabet[buffer << (bitsPerDigit - bits)]) }
        return String(decoding: digits, as: UTF8.self)
    }

    private static func decode(_ digits: some Sequence<UInt8>, bitsPerDigit: Int, alphabet: [UInt8]) -> [UInt8]? {
        var bytes: [UInt8] = []
        var buffer = 0
        var bits = 0
        for digit in digits {
            guard let value = alphabet.firstIndex(of: digit) else { return nil }
            buffer = (buffer << bitsPerDigit) | value
            bits += bitsPerDigit
            if bits >= 8 {
                bits -= 8
                bytes.append(UInt8(buffer >> bits))
                buffer &= (1 << bits) - 1
            }
        }
        // One encoding for each value: left-over bits are padding, fewer than a digit's, and zero.
        guard bits < bitsPerDigit, buffer == 0 else { return nil }
        return bytes
    }
}
