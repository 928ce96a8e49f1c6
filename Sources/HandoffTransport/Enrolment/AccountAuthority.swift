import COpenSSL
import Glibc
package import HandoffSupport

/// An account's certificate authority: what may make machines of the account.
package struct AccountAuthority: Sendable {
    /// The files that an account's directory holds.
    package enum File {
        /// The key that signs; secret.
        package static let key = "account.key"
        /// The account's certificate.
        package static let certificate = "account.pem"
        /// The discovery key; secret.
        package static let discoveryKey = "discovery.key"
    }

    /// How long a machine's certificate is valid.
    package static let validity: Int64 = 400 * 24 * 60 * 60
    /// How long before its issue a machine's certificate begins to be valid, for clocks that run behind.
    package static let leeway: Int64 = 60 * 60
    /// The same for the account's own, which a machine whose clock runs behind has to accept the minute it is made.
    static let authorityLeeway: Int64 = 24 * 60 * 60
    /// The longest name, in characters (RFC 5280, ub-common-name).
    package static let maximumName = 64

    /// The key that the account's machines recognise each other by, 32 bytes.
    package let discoveryKey: [UInt8]
    let key: PrivateKey
    let certificate: Certificate

    /// The account's name for people; only its certificate tells it.
    package var name: String { certificate.commonName }
    /// SHA-256 of the account's public key, 32 bytes.
    package var accountHash: [UInt8] { certificate.publicKeyHash }
    /// The account's certificate in DER.
    package var certificateDER: [UInt8] { certificate.der }

    init(key: PrivateKey, certificate: Certificate, discoveryKey: [UInt8]) {
        self.key = key
        self.certificate = certificate
        self.discoveryKey = discoveryKey
    }

    /// The same account with another discovery key, 32 bytes.
    package func with(discoveryKey: [UInt8]) -> AccountAuthority {
        AccountAuthority(key: key, certificate: certificate, discoveryKey: discoveryKey)
    }

    /// Makes a new account.
    ///
    /// - Parameters:
    ///   - name: For people; ``isValid(name:)``.
    ///   - now: The time, in seconds since 1970.
    package init(name: String, now: Int64) {
        precondition(Self.isValid(name: name), "the caller checks the name")
        let key = PrivateKey.make()
        let maker = CertificateMaker(
            subject: [("CN", name)],
            notBefore: now - Self.authorityLeeway,
            notAfter: nil,
            extensions: CertificateMaker.authorityExtensions
        )
        let certificate = key.withHandle { maker.make(for: $0, issuer: nil, issuerKey: key) }
        self.init(key: key, certificate: certificate, discoveryKey: Crypto.randomBytes(32))
    }

    /// Loads an account.
    ///
    /// - Throws: `IdentityError` where it is missing, damaged, or open to others.
    package init(directory path: String) throws {
        let directory = try IdentityDirectory(path: path)
        guard let key = PrivateKey(pem: try directory.read(File.key, isSecret: true)) else {
            throw IdentityError(.malformed, "\(path)/\(File.key) is not an unencrypted PEM private key")
        }
        guard let certificate = Certificate(pem: try directory.read(File.certificate, isSecret: false)) else {
            throw IdentityError(.malformed, "\(path)/\(File.certificate) is not a PEM certificate")
        }
        guard key.matches(certificate) else {
            throw IdentityError(.keyMismatch, "\(path)/\(File.key) is not the key of \(File.certificate)")
        }
        self.init(key: key, certificate: certificate, discoveryKey: try directory.readDiscoveryKey())
    }

    /// Whether an account can have that name: 1 to 64 characters, none of them a control character.
    package static func isValid(name: String) -> Bool {
        (1...maximumName).contains(name.unicodeScalars.count)
            && !name.unicodeScalars.contains { $0.properties.generalCategory == .control }
    }

    /// The account's files, for its directory.
    package var files: [PrivateFile] {
        [
            PrivateFile(name: File.key, isSecret: true, bytes: key.pem),
            PrivateFile(name: File.certificate, isSecret: false, bytes: certificate.pem),
            Self.file(ofDiscoveryKey: discoveryKey),
        ]
    }

    /// The file of a discovery key, for the account's directory and those of identities.
    package static func file(ofDiscoveryKey key: [UInt8]) -> PrivateFile {
        PrivateFile(
            name: File.discoveryKey,
            isSecret: true,
            bytes: Array((BaseEncoding.hexadecimal(key) + "\n").utf8)
        )
    }

    /// Issues a machine's certificate for the key in a certificate request; whatever else that asks for is ignored.
    ///
    /// - Parameters:
    ///   - request: A PKCS#10 request in DER, perhaps from another machine.
    ///   - team: The team ID.
    ///   - machineID: The machine's id, a lower-case UUID.
    ///   - now: The time by the clock that is behind of the two, in seconds since 1970.
    /// - Returns: The certificate in DER; nil where the request is malformed, is not signed by its own key, or has a key
    ///   that is not of P-256.
    package func issue(request: [UInt8], team: String, machineID: String, now: Int64) -> [UInt8]? {
        guard let handle = decoded(request, { d2i_X509_REQ(nil, $0, $1) }, free: { X509_REQ_free($0) }) else {
            return nil
        }
        defer {
            X509_REQ_free(handle)
            ERR_clear_error()
        }
        guard let publicKey = X509_REQ_get0_pubkey(handle), Self.isP256(publicKey),
            X509_REQ_verify(handle, publicKey) == 1
        else { return nil }
        let maker = CertificateMaker(
            subject: [("OU", team), ("CN", "handoff peer")],
            notBefore: now - Self.leeway,
            notAfter: now + Self.validity,
            extensions: CertificateMaker.machineExtensions(machineID: machineID)
        )
        return maker.make(for: publicKey, issuer: certificate, issuerKey: key).der
    }

    private static func isP256(_ key: OpaquePointer) -> Bool {
        var name = [CChar](repeating: 0, count: 64)
        guard EVP_PKEY_get_base_id(key) == EVP_PKEY_EC,
            EVP_PKEY_get_group_name(key, &name, name.count, nil) == 1
        else { return false }
        return strcmp(name, "prime256v1") == 0
    }
}
