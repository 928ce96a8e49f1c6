import HandoffTransport

/// The hash function of the protocol, for apps that compare texts with what other machines have.
public enum SHA256 {
    /// The 32 bytes of a hash (FIPS 180-4).
    public static func hash(_ bytes: [UInt8]) -> [UInt8] {
        Crypto.sha256(bytes)
    }
}
