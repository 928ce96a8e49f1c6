public import HandoffModel
import HandoffTransport

extension FuzzTarget {
    /// The discovery key of the checks; the corpus holds proofs and records that were made with it.
    public static let discoveryKey = [UInt8](repeating: 7, count: 32)
    private static let accountHash = [UInt8](repeating: 9, count: 32)
    /// The account that issues certificates in the checks.
    private static let authority = AccountAuthority(name: "Ada", now: 1_800_000_000)
    private static let team = "A1B2C3D4E5"
    private static let machine = "01234567-89ab-cdef-0123-456789abcdef"

    /// The tags that records are compared with.
    public static var tags: DiscoveryTags? {
        TeamID(team).map { team in
            DiscoveryTags(accountHash: accountHash, team: team) { Crypto.hmacSHA256(key: $0, message: $1) }
        }
    }

    func checkRecord(_ bytes: [UInt8]) throws(BrokenRule) {
        var strings: [[UInt8]] = []
        var rest = bytes[...]
        while let length = rest.popFirst() {
            strings.append(Array(rest.prefix(Int(length))))
            rest = rest.dropFirst(Int(length))
        }
        guard let record = try? AnnouncementRecord(strings: strings) else { return }
        let written = record.strings
        try require(written.reduce(0) { $0 + $1.count + 1 } < 200, "a record is short")
        try require((try? AnnouncementRecord(strings: written)) == record, "a record stays the same")
        _ = Self.tags?.match(record, keys: [Self.discoveryKey])
    }

    func checkDialProof(_ bytes: [UInt8]) throws(BrokenRule) {
        let label = String(decoding: bytes, as: UTF8.self)
        guard let nonce = DialProof.nonce(of: label, discoveryKey: Self.discoveryKey) else { return }
        let proof = DialProof.make(discoveryKey: Self.discoveryKey, nonce: nonce)
        try require(DialProof.nonce(of: proof, discoveryKey: Self.discoveryKey) == nonce, "a proof stays the same")
    }

    func checkCertificate(_ bytes: [UInt8]) throws(BrokenRule) {
        guard let (certificate, encoded) = PeerCertificate.unverified(bytes) else { return }
        try require(encoded.count <= bytes.count + 64, "a certificate does not grow")
        try require(certificate.accountHash.count == 32 && certificate.fingerprint.count == 32, "digests have 32 bytes")
        if let machine = certificate.machineID {
            try require(machine.utf8.count == 36 && machine == machine.lowercased(), "a machine id is one")
        }
        guard let (again, _) = PeerCertificate.unverified(encoded) else {
            throw BrokenRule("a certificate that was written can be read")
        }
        try require(again == certificate, "a certificate stays the same")
    }

    func checkCertificateRequest(_ bytes: [UInt8]) throws(BrokenRule) {
        let issued = Self.authority.issue(
            request: bytes,
            team: Self.team,
            machineID: Self.machine,
            now: 1_800_000_000
        )
        guard let issued else { return }
        let certificate = PeerCertificate.unverified(issued)?.certificate
        try require(
            certificate?.teamIDs == [Self.team] && certificate?.machineID == Self.machine,
            "a request names neither team nor machine"
        )
    }

    func checkCode(_ bytes: [UInt8]) throws(BrokenRule) {
        guard let code = try? InvitationCode(typed: String(decoding: bytes, as: UTF8.self)) else { return }
        try require((try? InvitationCode(typed: code.text)) == code, "a code stays the same")
    }
}
