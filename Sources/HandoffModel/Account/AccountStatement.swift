/// Something that an account says to all its machines, signed with the account's CA key (docs/protocol.md,
/// "Statements").
///
/// Its form is its content, which is what is signed, and the signature after it. Whether the signature is good is for
/// the caller to ask, who knows the account's public key: nothing here is to be believed before.
public protocol AccountStatement: Hashable, Sendable {
    /// What a newer statement about takes the place of an older one.
    associatedtype Subject: Hashable & Sendable

    /// What is signed before the content, so that no statement passes for one of another kind.
    static var purpose: String { get }
    /// How many are kept.
    static var maximumCount: Int { get }

    /// What it is about.
    var subject: Subject { get }
    /// What it says, in bytes.
    var content: [UInt8] { get }
    /// The signature: ECDSA with P-256 and SHA-256, in DER.
    var signature: [UInt8] { get }
    /// What decides between two, so that all machines keep the same: bytes in lexicographic order.
    var rank: [UInt8] { get }

    /// Takes a statement apart.
    ///
    /// - Returns: Nil where the bytes are no statement of this kind.
    init?(bytes: [UInt8])
}

extension AccountStatement {
    /// The statement as it travels and is stored.
    public var bytes: [UInt8] { content + signature }

    /// What the signature is about.
    ///
    /// - Parameter accountHash: SHA-256 of the account CA's public key, 32 bytes.
    public func signedBytes(accountHash: [UInt8]) -> [UInt8] {
        Self.signedBytes(of: content, accountHash: accountHash)
    }

    /// What is to be signed for a content.
    ///
    /// - Parameters:
    ///   - content: What the statement says.
    ///   - accountHash: SHA-256 of the account CA's public key, 32 bytes.
    public static func signedBytes(of content: [UInt8], accountHash: [UInt8]) -> [UInt8] {
        Array(purpose.utf8) + [0] + accountHash + content
    }
}

/// How long an ECDSA signature of P-256 in DER may be, and has to be at least.
let signatureLengths = 8...72

/// The last second of the year 9999; a date has 8 bytes, and no later one is read.
let latestDate: Int64 = 253_402_300_799

/// A date's 8 bytes.
func bytes(ofDate seconds: Int64) -> [UInt8] { bytes(of: UInt64(clamping: seconds)) }

/// A number's 8 bytes, the highest first.
func bytes(of number: UInt64) -> [UInt8] { withUnsafeBytes(of: number.bigEndian) { Array($0) } }

/// The number that 8 bytes tell, the highest first.
func number(in bytes: some Sequence<UInt8>) -> UInt64 { bytes.reduce(0) { $0 << 8 | UInt64($1) } }
