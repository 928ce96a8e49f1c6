import COpenSSL

extension AccountAuthority {
    /// Signs bytes with the account's key: ECDSA with SHA-256, in DER.
    package func sign(_ bytes: [UInt8]) -> [UInt8] {
        guard let context = EVP_MD_CTX_new() else { preconditionFailure("out of memory") }
        defer { EVP_MD_CTX_free(context) }
        return key.withHandle { key in
            var signature = [UInt8](repeating: 0, count: Int(EVP_PKEY_get_size(key)))
            var count = signature.count
            let isSigned =
                EVP_DigestSignInit(context, nil, EVP_sha256(), nil, key) == 1
                && EVP_DigestSign(context, &signature, &count, bytes, bytes.count) == 1
            precondition(isSigned, "OpenSSL does not sign")
            return Array(signature.prefix(count))
        }
    }

    /// The account's discovery key of a generation, 32 bytes: every machine that holds the account's key makes the same.
    ///
    /// Two that revoke at once, and cannot hear of each other, still agree. Nobody else can make it: it is
    /// HMAC-SHA256(the CA's private scalar, "handoff/1 discovery key of generation" ‖ 00 ‖ account hash ‖ generation).
    package func discoveryKey(ofGeneration generation: Int64) -> [UInt8] {
        Self.discoveryKey(ofGeneration: generation, scalar: privateScalar, accountHash: accountHash)
    }

    static func discoveryKey(ofGeneration generation: Int64, scalar: [UInt8], accountHash: [UInt8]) -> [UInt8] {
        let number = withUnsafeBytes(of: generation.bigEndian) { Array($0) }
        let message = Array("handoff/1 discovery key of generation".utf8) + [0] + accountHash + number
        return Crypto.hmacSHA256(key: scalar, message: message)
    }

    /// The private key as a number of 32 bytes.
    private var privateScalar: [UInt8] {
        key.withHandle { key in
            var number: OpaquePointer?
            var bytes = [UInt8](repeating: 0, count: 32)
            let isRead = EVP_PKEY_get_bn_param(key, "priv", &number) == 1 && BN_bn2binpad(number, &bytes, 32) == 32
            BN_clear_free(number)
            precondition(isRead, "an account's key is one of P-256")
            return bytes
        }
    }
}

extension Identity {
    /// Whether the account's key has made a signature of some bytes.
    package func isSigned(_ bytes: [UInt8], by signature: [UInt8]) -> Bool {
        guard let context = EVP_MD_CTX_new() else { preconditionFailure("out of memory") }
        defer {
            EVP_MD_CTX_free(context)
            ERR_clear_error()
        }
        return account.withHandle { account in
            EVP_DigestVerifyInit(context, nil, EVP_sha256(), nil, X509_get0_pubkey(account)) == 1
                && EVP_DigestVerify(context, signature, signature.count, bytes, bytes.count) == 1
        }
    }
}
