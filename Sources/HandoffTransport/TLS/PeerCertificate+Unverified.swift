extension PeerCertificate {
    /// Reads a certificate that nobody has verified, and writes it again: for tests of what reads a stranger's DER.
    ///
    /// - Returns: What it says, with the hash of its own key for the account's; nil where it is no certificate.
    package static func unverified(_ der: [UInt8]) -> (certificate: PeerCertificate, encoded: [UInt8])? {
        guard let certificate = Certificate(der: der) else { return nil }
        return (PeerCertificate(certificate, accountHash: certificate.publicKeyHash), certificate.der)
    }
}
