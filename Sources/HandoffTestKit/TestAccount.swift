import COpenSSL
import Glibc
import HandoffSupport
public import HandoffTransport

/// An account made for a test: a certificate authority in memory that issues good and bad peer certificates.
public final class TestAccount: @unchecked Sendable {  // the keys are not changed after init
    /// What is right or wrong with a peer's certificate.
    public enum Kind: CaseIterable, Sendable {
        /// As it should be.
        case good
        /// Its time is over.
        case expired
        /// Its time has not come.
        case notYetValid
        /// Issued by its own key.
        case selfSigned
        /// Issued by another account whose CA has the same name.
        case otherAccount
        /// Issued by a machine of the account, whose certificate is no CA's.
        case issuedByMachine
        /// The certificate is a good one, the private key another machine's.
        case foreignKey
        /// Its OU is another team's.
        case otherTeam
        /// It has two OUs, the right one first.
        case twoTeams
        /// It has no OU.
        case noTeam
    }

    /// The team of good certificates.
    public let teamID: String
    /// The account's discovery key, 32 bytes.
    public let discoveryKey: [UInt8]

    private let key: OpaquePointer
    private let certificate: OpaquePointer
    private let foreignKey: OpaquePointer
    private let machineKey: OpaquePointer
    /// The certificate of the machine that issued those of the kind ``Kind/issuedByMachine``.
    public private(set) var machineCertificate: OpaquePointer

    /// Makes an account.
    public init(teamID: String = "A1B2C3D4E5") {
        self.teamID = teamID
        discoveryKey = Crypto.randomBytes(32)
        key = Self.makeKey()
        foreignKey = Self.makeKey()
        machineKey = Self.makeKey()
        certificate = Self.makeAuthority(key)
        machineCertificate = certificate
        machineCertificate = makeCertificate(.good, machineID: Self.randomUUID(), key: machineKey)
    }

    deinit {
        EVP_PKEY_free(key)
        EVP_PKEY_free(foreignKey)
        EVP_PKEY_free(machineKey)
        X509_free(machineCertificate)
        X509_free(certificate)
    }

    /// Makes a peer's identity without asking whether anybody would accept it.
    ///
    /// Only its certificate is bad: it knows the account's discovery key, and trusts the account.
    ///
    /// - Parameters:
    ///   - kind: What is wrong with it.
    ///   - machineID: The machine's id; nil for a new one.
    public func makeIdentity(_ kind: Kind = .good, machineID: String? = nil) throws -> Identity {
        try withTemporaryDirectory { directory in
            try write(kind, machineID: machineID, to: directory)
            return try Identity(unverifiedIn: directory)
        }
    }

    /// Writes a peer's identity into a directory, which is made where it does not exist.
    ///
    /// - Parameters:
    ///   - kind: What is wrong with its certificate.
    ///   - machineID: The machine's id; nil for a new one.
    ///   - directory: The directory's path.
    /// - Throws: `SystemError`.
    public func write(_ kind: Kind = .good, machineID: String? = nil, to directory: String) throws {
        if mkdir(directory, 0o700) != 0, errno != EEXIST { throw SystemError("make \(directory)", code: errno) }
        let peerKey = Self.makeKey()
        defer { EVP_PKEY_free(peerKey) }
        let peer = makeCertificate(kind, machineID: machineID ?? Self.randomUUID(), key: peerKey)
        defer { X509_free(peer) }
        let writtenKey = kind == .foreignKey ? Self.impostor(of: peerKey, with: foreignKey) : peerKey
        defer { if writtenKey != peerKey { EVP_PKEY_free(writtenKey) } }
        try writeFile(
            "\(directory)/key.pem",
            mode: 0o600,
            Self.pem { PEM_write_bio_PrivateKey($0, writtenKey, nil, nil, 0, nil, nil) }
        )
        try writeFile("\(directory)/certificate.pem", mode: 0o644, Self.pem { PEM_write_bio_X509($0, peer) })
        try writeFile("\(directory)/account.pem", mode: 0o644, Self.pem { PEM_write_bio_X509($0, certificate) })
        let digits = BaseEncoding.hexadecimal(discoveryKey) + "\n"
        try writeFile("\(directory)/discovery.key", mode: 0o600, Array(digits.utf8))
    }

    /// A private key in PEM that is locked with a passphrase.
    public static func encryptedKey() -> [UInt8] {
        let key = makeKey()
        defer { EVP_PKEY_free(key) }
        return pem {
            PEM_write_bio_PKCS8PrivateKey($0, key, EVP_aes_256_cbc(), "secret", 6, nil, nil)
        }
    }

    /// A random lower-case UUID (RFC 9562, version 4).
    public static func randomUUID() -> String {
        var bytes = Crypto.randomBytes(16)
        bytes[6] = bytes[6] & 0x0f | 0x40
        bytes[8] = bytes[8] & 0x3f | 0x80
        let groups = [bytes[0..<4], bytes[4..<6], bytes[6..<8], bytes[8..<10], bytes[10...]]
        return groups.map { BaseEncoding.hexadecimal($0) }.joined(separator: "-")
    }

    private func makeCertificate(_ kind: Kind, machineID: String, key peerKey: OpaquePointer) -> OpaquePointer {
        let teams =
            switch kind {
            case .otherTeam: ["ZZZZZZZZZ9"]
            case .twoTeams: [teamID, "ZZZZZZZZZ9"]
            case .noTeam: [String]()
            default: [teamID]
            }
        let hour = 3600
        let day = 24 * hour
        let (notBefore, notAfter) =
            switch kind {
            case .expired: (-2 * day, -day)
            case .notYetValid: (day, 2 * day)
            default: (-hour, 400 * day)
            }
        let (signingKey, issuer): (OpaquePointer, OpaquePointer?) =
            switch kind {
            case .selfSigned: (peerKey, nil)
            case .otherAccount: (foreignKey, certificate)
            case .issuedByMachine: (machineKey, machineCertificate)
            default: (key, certificate)
            }
        let peer = Self.makeBlank(key: peerKey, teams: teams, name: "peer", notBefore: notBefore)
        X509_gmtime_adj(X509_getm_notAfter(peer), notAfter)
        X509_set_issuer_name(peer, X509_get_subject_name(issuer ?? peer))
        Self.addExtensions(
            [
                (NID_basic_constraints, "critical,CA:FALSE"),
                (NID_key_usage, "critical,digitalSignature"),
                (NID_ext_key_usage, "serverAuth,clientAuth"),
                (NID_subject_key_identifier, "hash"),
                (NID_subject_alt_name, "URI:handoff:machine:\(machineID)"),
                (NID_authority_key_identifier, "keyid:always"),
            ],
            to: peer,
            issuer: issuer ?? peer
        )
        Self.sign(peer, with: signingKey)
        return peer
    }

    private static func makeAuthority(_ key: OpaquePointer) -> OpaquePointer {
        let authority = makeBlank(key: key, teams: [], name: "Handoff account", notBefore: -3600)
        ASN1_TIME_set_string(X509_getm_notAfter(authority), "99991231235959Z")
        X509_set_issuer_name(authority, X509_get_subject_name(authority))
        addExtensions(
            [
                (NID_basic_constraints, "critical,CA:TRUE,pathlen:0"),
                (NID_key_usage, "critical,keyCertSign,cRLSign"),
                (NID_subject_key_identifier, "hash"),
            ],
            to: authority,
            issuer: authority
        )
        sign(authority, with: key)
        return authority
    }

    private static func makeKey() -> OpaquePointer {
        guard let key = COpenSSL_EVP_EC_gen("P-256") else { preconditionFailure("OpenSSL makes no key") }
        return key
    }

    /// A private key that claims to belong to another public key, so that OpenSSL uses it with that one's certificate.
    private static func impostor(of key: OpaquePointer, with secret: OpaquePointer) -> OpaquePointer {
        func encoded(_ key: OpaquePointer) -> [UInt8] {
            var bytes: UnsafeMutablePointer<UInt8>?
            let count = i2d_PrivateKey(key, &bytes)
            defer { COpenSSL_OPENSSL_free(bytes) }
            return Array(UnsafeBufferPointer(start: bytes, count: Int(count)))
        }
        // RFC 5915: the public point is the last of the encoding, X and Y of 32 bytes each.
        let bytes = encoded(secret).dropLast(64) + encoded(key).suffix(64)
        let made = Array(bytes).withUnsafeBufferPointer { buffer in
            var position = buffer.baseAddress
            return d2i_AutoPrivateKey(nil, &position, buffer.count)
        }
        guard let made else { preconditionFailure("OpenSSL does not read the key") }
        return made
    }

    private static func makeBlank(key: OpaquePointer, teams: [String], name: String, notBefore: Int) -> OpaquePointer {
        guard let certificate = X509_new() else { preconditionFailure("out of memory") }
        X509_set_version(certificate, 2)  // v3 is counted from zero
        let serial = BN_bin2bn([0x40] + Crypto.randomBytes(15), 16, nil)
        BN_to_ASN1_INTEGER(serial, X509_get_serialNumber(certificate))
        BN_free(serial)
        X509_set_pubkey(certificate, key)
        X509_gmtime_adj(X509_getm_notBefore(certificate), notBefore)
        let subject = X509_get_subject_name(certificate)
        for (field, value) in teams.map({ ("OU", $0) }) + [("CN", name)] {
            X509_NAME_add_entry_by_txt(subject, field, MBSTRING_FLAG | 0, value, -1, -1, 0)
        }
        return certificate
    }

    private static func addExtensions(
        _ extensions: [(nid: CInt, value: String)],
        to certificate: OpaquePointer,
        issuer: OpaquePointer
    ) {
        var context = v3_ext_ctx()
        X509V3_set_ctx(&context, issuer, certificate, nil, nil, 0)
        for (nid, value) in extensions {
            guard let made = X509V3_EXT_conf_nid(nil, &context, nid, value) else {
                preconditionFailure("OpenSSL refuses the extension \(value)")
            }
            X509_add_ext(certificate, made, -1)
            X509_EXTENSION_free(made)
        }
    }

    private static func sign(_ certificate: OpaquePointer, with key: OpaquePointer) {
        let length = X509_sign(certificate, key, EVP_sha256())
        precondition(length > 0, "OpenSSL does not sign")
    }

    private static func pem(_ write: (OpaquePointer?) -> CInt) -> [UInt8] {
        let bio = BIO_new(BIO_s_mem())
        defer { BIO_free(bio) }
        precondition(write(bio) == 1, "OpenSSL writes no PEM")
        var bytes: UnsafeMutablePointer<CChar>?
        let count = COpenSSL_BIO_get_mem_data(bio, &bytes)
        return bytes.map { Array(UnsafeRawBufferPointer(start: $0, count: count)) } ?? []
    }
}
