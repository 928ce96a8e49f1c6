import COpenSSL

/// An account in one file, its two secrets under a passphrase, in the forms that OpenSSL itself reads.
///
/// Three blocks of PEM: the account's certificate; its key as an encrypted PKCS#8 (RFC 5958) by scrypt (RFC 7914) and
/// AES-256-CBC; and the discovery key likewise, as the private key of X25519, which is any 32 bytes.
extension AccountAuthority {
    /// scrypt's cost: 16 MiB and 50 ms, the most that OpenSSL's own commands take without being told.
    private static let cost: UInt64 = 1 << 14
    private static let blockSize: UInt64 = 8

    /// Writes the backup.
    package func backup(passphrase: [UInt8]) -> [UInt8] {
        guard let discovery = EVP_PKEY_new_raw_private_key(EVP_PKEY_X25519, nil, discoveryKey, discoveryKey.count)
        else {
            preconditionFailure("any 32 bytes are a private key of X25519")
        }
        let discoveryKey = PrivateKey(takingOwnership: discovery)
        return certificate.pem + Self.encrypt(key, passphrase) + Self.encrypt(discoveryKey, passphrase)
    }

    /// Reads a backup.
    ///
    /// - Returns: Nil where the passphrase is another one.
    /// - Throws: `IdentityError` where it is no backup.
    package init?(backup: [UInt8], passphrase: [UInt8]) throws {
        guard let certificate = Certificate(pem: backup) else { throw Self.noBackup }
        let blocks = Self.encryptedBlocks(of: backup)
        guard blocks.count == 2 else { throw Self.noBackup }
        let keys = blocks.compactMap { Self.decrypt($0, passphrase) }
        guard keys.count == 2 else { return nil }
        var discoveryKey = [UInt8](repeating: 0, count: 32)
        var count = discoveryKey.count
        guard keys[0].matches(certificate),
            keys[1].withHandle({ EVP_PKEY_get_raw_private_key($0, &discoveryKey, &count) }) == 1, count == 32
        else { throw Self.noBackup }
        self.init(key: keys[0], certificate: certificate, discoveryKey: discoveryKey)
    }

    private static let noBackup = IdentityError(.malformed, "that file is no backup of an account, or a damaged one")

    private static func encrypt(_ key: PrivateKey, _ passphrase: [UInt8]) -> [UInt8] {
        let salt = Crypto.randomBytes(16)
        var vector = Crypto.randomBytes(16)
        let text: [UInt8]? = key.withHandle { handle -> [UInt8]? in
            // Each of them is taken over by the next one.
            guard let plain = EVP_PKEY2PKCS8(handle) else { return nil }
            defer { PKCS8_PRIV_KEY_INFO_free(plain) }
            var salt = salt
            let scheme = PKCS5_pbe2_set_scrypt(
                EVP_aes_256_cbc(),
                &salt,
                CInt(salt.count),
                &vector,
                cost,
                blockSize,
                1
            )
            let encrypted = passphrase.withUnsafeBytes { bytes in
                PKCS8_set0_pbe(bytes.bindMemory(to: CChar.self).baseAddress, CInt(bytes.count), plain, scheme)
            }
            guard let encrypted else { return nil }
            defer { X509_SIG_free(encrypted) }
            return written { PEM_write_bio_PKCS8($0, encrypted) }
        }
        guard let text else { preconditionFailure("OpenSSL does not encrypt") }
        return text
    }

    /// The encrypted keys in a PEM text, as OpenSSL's `X509_SIG`.
    private static func encryptedBlocks(of text: [UInt8]) -> [EncryptedKey] {
        reading(text) { bio in
            var blocks: [EncryptedKey] = []
            while blocks.count < 3, let block = PEM_read_bio_PKCS8(bio, nil, nil, nil) {
                blocks.append(EncryptedKey(takingOwnership: block))
            }
            return blocks
        } ?? []
    }

    private static func decrypt(_ key: EncryptedKey, _ passphrase: [UInt8]) -> PrivateKey? {
        defer { ERR_clear_error() }
        return passphrase.withUnsafeBytes { bytes in
            let passphrase = bytes.bindMemory(to: CChar.self).baseAddress
            guard let plain = PKCS8_decrypt(key.handle, passphrase, CInt(bytes.count)) else { return nil }
            defer { PKCS8_PRIV_KEY_INFO_free(plain) }
            return EVP_PKCS82PKEY(plain).map { PrivateKey(takingOwnership: $0) }
        }
    }

    /// An `X509_SIG` with one owner.
    private final class EncryptedKey {
        let handle: OpaquePointer

        init(takingOwnership handle: OpaquePointer) {
            self.handle = handle
        }

        deinit { X509_SIG_free(handle) }
    }
}
