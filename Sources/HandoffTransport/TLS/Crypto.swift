import COpenSSL

/// The few cryptographic functions that the protocol needs beside TLS.
public enum Crypto {
    /// The SHA-256 digest of some bytes, 32 bytes.
    public static func sha256(_ bytes: [UInt8]) -> [UInt8] {
        var digest = [UInt8](repeating: 0, count: Int(EVP_MAX_MD_SIZE))
        var count: CUnsignedInt = 0
        let result = EVP_Digest(bytes, bytes.count, &digest, &count, EVP_sha256(), nil)
        precondition(result == 1, "SHA-256 is not available")
        return Array(digest.prefix(Int(count)))
    }

    /// The HMAC-SHA256 of a message, 32 bytes (RFC 2104).
    public static func hmacSHA256(key: [UInt8], message: [UInt8]) -> [UInt8] {
        var code = [UInt8](repeating: 0, count: Int(EVP_MAX_MD_SIZE))
        var count: CUnsignedInt = 0
        let result = HMAC(EVP_sha256(), key, CInt(key.count), message, message.count, &code, &count)
        precondition(result != nil, "HMAC-SHA256 is not available")
        return Array(code.prefix(Int(count)))
    }

    /// Bytes from the system's secure random generator.
    public static func randomBytes(_ count: Int) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
            // A program that goes on without randomness has no secrets.
            precondition(RAND_bytes(buffer.baseAddress, CInt(count)) == 1, "no secure randomness")
            initialized = count
        }
    }

    /// Compares two secrets in a time that does not tell where they differ.
    public static func areEqual(_ left: [UInt8], _ right: [UInt8]) -> Bool {
        left.count == right.count && CRYPTO_memcmp(left, right, left.count) == 0
    }
}
