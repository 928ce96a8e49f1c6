/// What a verified certificate says of the machine that holds it.
///
/// The chain, the dates and the revocation were judged in the handshake; whether the team and the machine are the
/// right ones is for the receiver of this value to judge.
public struct PeerCertificate: Sendable, Hashable {
    /// The machine's id, a lower-case UUID; nil unless exactly one SAN URI is `handoff:machine:<uuid>`.
    public let machineID: String?
    /// All organizational units of the subject: a peer certificate has exactly one, its team ID.
    public let teamIDs: [String]
    /// SHA-256 of the account CA's DER SubjectPublicKeyInfo, 32 bytes.
    public let accountHash: [UInt8]
    /// The serial number in lower-case hexadecimal.
    public let serial: String
    /// When the certificate's time is over, in seconds since 1970.
    public let notAfter: Int64
    /// SHA-256 of the certificate's DER, 32 bytes.
    public let fingerprint: [UInt8]

    /// Reads a certificate that was verified against the account.
    init(_ certificate: Certificate, accountHash: [UInt8]) {
        machineID = Self.machineID(in: certificate)
        teamIDs = certificate.organizationalUnits
        self.accountHash = accountHash
        serial = certificate.serial
        notAfter = certificate.notAfter
        fingerprint = Crypto.sha256(certificate.der)
    }

    /// The machine id in a certificate; nil unless it names exactly one.
    static func machineID(in certificate: Certificate) -> String? {
        let prefix = "handoff:machine:"
        let machines = certificate.uniformResourceIdentifiers.filter { $0.hasPrefix(prefix) }
        guard machines.count == 1, let machine = machines.first?.dropFirst(prefix.count).lowercased(), isUUID(machine)
        else { return nil }
        return machine
    }

    private static func isUUID(_ text: String) -> Bool {
        let groups = text.split(separator: "-", omittingEmptySubsequences: false)
        return groups.map(\.utf8.count) == [8, 4, 4, 4, 12]
            && groups.joined().utf8.allSatisfy { (48...57).contains($0) || (97...102).contains($0) }
    }
}
