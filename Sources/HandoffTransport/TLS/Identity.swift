import COpenSSL
import HandoffSupport

/// Who this machine is: its certificate and key, the account that issued it, and the account's discovery key.
public struct Identity: Sendable {
    /// SHA-256 of the account CA's DER SubjectPublicKeyInfo, 32 bytes.
    public let accountHash: [UInt8]
    /// The certificate's organizational unit.
    public let teamID: String
    /// The machine's id, a lower-case UUID.
    public let machineID: String
    /// The key that the account's machines recognise each other by before any certificate is shown, 32 bytes.
    public let discoveryKey: [UInt8]
    /// The certificate's serial number in lower-case hexadecimal.
    public let serial: String
    /// When the certificate's time begins, in seconds since 1970.
    public let notBefore: Int64
    /// When the certificate's time is over, in seconds since 1970.
    public let notAfter: Int64

    /// The directory that it was loaded from; nil where it is in memory alone.
    package private(set) var directory: String?

    let certificate: Certificate
    let privateKey: PrivateKey
    let account: Certificate

    /// Loads an identity and checks it as a peer would.
    ///
    /// The directory holds `key.pem` and `certificate.pem`, `account.pem` (the account CA's certificate) and
    /// `discovery.key` (64 hexadecimal digits and a newline). It must be closed to other users (0700), and so must
    /// the two secrets (0600).
    ///
    /// - Parameter directory: The directory's path.
    /// - Throws: `IdentityError`.
    public static func load(directory: String) throws -> Identity {
        var identity = try Identity(unverifiedIn: directory)
        try identity.verify(directory: directory)
        identity.directory = directory.count > 1 && directory.hasSuffix("/") ? String(directory.dropLast()) : directory
        return identity
    }

    /// Reads an identity without asking whether any peer would accept it.
    package init(unverifiedIn path: String) throws {
        let directory = try IdentityDirectory(path: path)
        guard let privateKey = PrivateKey(pem: try directory.read("key.pem", isSecret: true)) else {
            throw IdentityError(.malformed, "\(path)/key.pem is not an unencrypted PEM private key")
        }
        func certificate(_ name: String) throws -> Certificate {
            guard let certificate = Certificate(pem: try directory.read(name, isSecret: false)) else {
                throw IdentityError(.malformed, "\(path)/\(name) is not a PEM certificate")
            }
            return certificate
        }
        self.init(
            certificate: try certificate("certificate.pem"),
            privateKey: privateKey,
            account: try certificate("account.pem"),
            discoveryKey: try directory.readDiscoveryKey()
        )
    }

    /// Puts an identity together that nobody has checked.
    init(certificate: Certificate, privateKey: PrivateKey, account: Certificate, discoveryKey: [UInt8]) {
        self.certificate = certificate
        self.privateKey = privateKey
        self.account = account
        self.discoveryKey = discoveryKey
        accountHash = account.publicKeyHash
        teamID = certificate.organizationalUnits.first ?? ""
        machineID = PeerCertificate.machineID(in: certificate) ?? ""
        serial = certificate.serial
        notBefore = certificate.notBefore
        notAfter = certificate.notAfter
    }

    /// The same machine with another discovery key of the account, 32 bytes.
    package func with(discoveryKey: [UInt8]) -> Identity {
        replacing(certificate, discoveryKey: discoveryKey)
    }

    /// The same machine with a certificate that the account has issued instead of its own.
    ///
    /// - Parameters:
    ///   - der: The certificate in DER.
    ///   - now: The time by which its dates are judged, in seconds since 1970; nil for the system's.
    /// - Throws: `IdentityError` where no peer would accept it, it is another machine's or team's, or ends no later.
    package func renewed(with der: [UInt8], now: Int64? = nil) throws -> Identity {
        guard let issued = Certificate(der: der) else {
            throw IdentityError(.malformed, "what was issued is not a certificate")
        }
        let renewed = replacing(issued, discoveryKey: discoveryKey)
        try renewed.verify(directory: "the renewed identity", now: now)
        guard renewed.machineID == machineID, renewed.teamID == teamID, renewed.notAfter > notAfter else {
            throw IdentityError(.malformed, "what was issued is no renewal of this machine's certificate")
        }
        return renewed
    }

    private func replacing(_ certificate: Certificate, discoveryKey: [UInt8]) -> Identity {
        var identity = Identity(
            certificate: certificate,
            privateKey: privateKey,
            account: account,
            discoveryKey: discoveryKey
        )
        identity.directory = directory
        return identity
    }

    /// Checks it as a peer would.
    func verify(directory: String, now: Int64? = nil) throws {
        let path = "\(directory)/certificate.pem"
        guard privateKey.matches(certificate) else {
            throw IdentityError(.keyMismatch, "\(directory)/key.pem is not the key of certificate.pem")
        }
        guard certificate.organizationalUnits.count == 1, Self.isTeamID(teamID) else {
            throw IdentityError(.malformed, "\(path) has to have one OU, a team ID of 10 characters A-Z and 0-9")
        }
        guard !machineID.isEmpty else {
            throw IdentityError(.malformed, "\(path) has to have one SAN URI handoff:machine:<uuid>")
        }
        switch TrustStore(account: account).judge(certificate, at: now) {
        case nil: return
        case .certificateExpired:
            throw IdentityError(.expired, "\(path) has expired; enrol this machine again: handoff account join")
        case .certificateNotYetValid:
            throw IdentityError(.notYetValid, "\(path) is not valid yet; check this machine's clock")
        case .otherAccount, .selfSigned:
            throw IdentityError(.notOfAccount, "\(path) was not issued by the account in account.pem")
        case let code?:
            throw IdentityError(.notOfAccount, "\(path) cannot be used as a peer certificate (\(code))")
        }
    }

    private static func isTeamID(_ text: String) -> Bool {
        text.utf8.count == 10 && text.utf8.allSatisfy { (48...57).contains($0) || (65...90).contains($0) }
    }
}
