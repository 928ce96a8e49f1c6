import COpenSSL
package import HandoffSupport

/// A machine that is being enrolled: its new private key, which never leaves it.
package struct NewMachine: Sendable {
    private let key = PrivateKey.make()

    /// Makes the machine's key.
    package init() {}

    /// A certificate request for the key in DER (PKCS#10); it asks for nothing and names nobody.
    package func certificateRequest() -> [UInt8] { key.certificateRequest() }

    /// Checks what an account has issued for the key as a peer would.
    ///
    /// - Parameters:
    ///   - account: The account's certificate in DER.
    ///   - certificate: The machine's in DER.
    ///   - discoveryKey: The account's discovery key, 32 bytes.
    /// - Returns: The identity, which is in memory alone so far.
    /// - Throws: `IdentityError`.
    package func identity(account: [UInt8], certificate: [UInt8], discoveryKey: [UInt8]) throws -> Identity {
        guard let account = Certificate(der: account), let certificate = Certificate(der: certificate) else {
            throw IdentityError(.malformed, "what was issued is not a certificate")
        }
        let identity = Identity(
            certificate: certificate,
            privateKey: key,
            account: account,
            discoveryKey: discoveryKey
        )
        try identity.verify(directory: "the new identity")
        return identity
    }
}

extension PrivateKey {
    /// A certificate request for the key in DER (PKCS#10); it asks for nothing and names nobody.
    func certificateRequest() -> [UInt8] {
        guard let request = X509_REQ_new() else { preconditionFailure("out of memory") }
        defer { X509_REQ_free(request) }
        let length = withHandle { key in
            X509_REQ_set_pubkey(request, key)
            return X509_REQ_sign(request, key, EVP_sha256())
        }
        precondition(length > 0, "OpenSSL does not sign")
        return written { i2d_X509_REQ_bio($0, request) } ?? []
    }
}

extension Identity {
    /// A certificate request for the machine's key in DER, for a new certificate in place of its own.
    package func certificateRequest() -> [UInt8] { privateKey.certificateRequest() }

    /// The certificate's file, for the identity's directory.
    package var certificateFile: PrivateFile {
        PrivateFile(name: "certificate.pem", isSecret: false, bytes: certificate.pem)
    }

    /// The identity's files, for its directory.
    package var files: [PrivateFile] {
        [
            PrivateFile(name: "key.pem", isSecret: true, bytes: privateKey.pem),
            certificateFile,
            PrivateFile(name: "account.pem", isSecret: false, bytes: account.pem),
            AccountAuthority.file(ofDiscoveryKey: discoveryKey),
        ]
    }

    /// What a certificate in DER says of its end, in seconds since 1970, and its serial number; nil where it is none.
    package static func validity(ofCertificate der: [UInt8]) -> (end: Int64, serial: [UInt8])? {
        guard let certificate = Certificate(der: der) else { return nil }
        return (certificate.notAfter, BaseEncoding.decodeHexadecimal(certificate.serial) ?? [])
    }

    /// The account's name for people; its certificate alone tells it.
    package var accountName: String { account.commonName }

    /// What two people compare: the first 8 bytes of SHA-256(account hash ‖ DER of the machine's certificate).
    package var fingerprint: [UInt8] { Self.fingerprint(accountHash: accountHash, certificate: certificate.der) }

    /// As ``fingerprint``, for the end that has issued the certificate.
    package static func fingerprint(accountHash: [UInt8], certificate: [UInt8]) -> [UInt8] {
        Array(Crypto.sha256(accountHash + certificate).prefix(8))
    }
}
