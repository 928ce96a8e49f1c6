import COpenSSL

/// The key that both ends of an enrolment make from the invitation's code.
///
/// Its identity on the wire is the salt: so the inviting end knows which of its keys is meant, the one for machines that
/// read a salt in mDNS, or the one for machines that were told where to go.
package struct PreSharedKey: Sendable {
    /// The ALPN name of enrolments.
    package static let applicationProtocol = "handoff-enroll/1"
    /// The salt of machines that read none in mDNS.
    package static let fixedSalt = Array("handoff-enroll".utf8)
    /// How many bytes a salt in mDNS has.
    package static let saltLength = 16

    /// scrypt's cost N (RFC 7914): 32 MiB, and 100 ms of one core of 2020.
    package static let cost: UInt64 = 1 << 15
    private static let blockSize: UInt64 = 8
    private static let memoryLimit: UInt64 = 64 << 20

    /// What tells the keys of one code apart.
    package let salt: [UInt8]
    let bytes: [UInt8]

    /// Makes the key; takes about 100 ms.
    ///
    /// - Parameters:
    ///   - code: The bytes of the code.
    ///   - salt: What tells the keys of one code apart.
    ///   - cost: scrypt's cost; another one than the protocol's for tests, which make many.
    package init(code: [UInt8], salt: [UInt8], cost: UInt64 = cost) {
        var bytes = [UInt8](repeating: 0, count: 32)
        let result = code.withUnsafeBytes { code in
            EVP_PBE_scrypt(
                code.bindMemory(to: CChar.self).baseAddress,
                code.count,
                salt,
                salt.count,
                cost,
                Self.blockSize,
                1,
                Self.memoryLimit,
                &bytes,
                bytes.count
            )
        }
        precondition(result == 1, "scrypt is not available")
        self.salt = salt
        self.bytes = bytes
    }

    /// A new session that the key makes possible, for OpenSSL, which takes it over; nil where it has no such suite.
    func makeSession(for ssl: OpaquePointer?) -> OpaquePointer? {
        let suite: [UInt8] = [0x13, 0x01]  // TLS_AES_128_GCM_SHA256, the only one of the context
        guard let cipher = SSL_CIPHER_find(ssl, suite), let session = SSL_SESSION_new() else { return nil }
        guard SSL_SESSION_set1_master_key(session, bytes, bytes.count) == 1,
            SSL_SESSION_set_cipher(session, cipher) == 1,
            SSL_SESSION_set_protocol_version(session, TLS1_3_VERSION) == 1
        else {
            SSL_SESSION_free(session)
            return nil
        }
        return session
    }
}
