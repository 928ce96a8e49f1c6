/// The account has another discovery key: each `revoke` makes one, which the revoked machine does not get to know.
public struct DiscoveryKeyStatement: AccountStatement {
    /// What is signed before the content.
    public static let purpose = "handoff/1 discovery key"
    /// How many are kept, the current one and those before it (docs/protocol.md, "Statements").
    public static let maximumCount = 32
    /// The highest generation; there is no way back from it, so what is higher is not read.
    public static let maximumGeneration: Int64 = 1 << 32
    /// How many bytes a key has.
    public static let keyLength = 32

    /// The place in the order of the account's keys, from 1.
    public let generation: Int64
    /// When it was made, in seconds since 1970.
    public let date: Int64
    /// The key; secret.
    public let key: [UInt8]
    /// The account's signature.
    public let signature: [UInt8]

    /// Puts one together.
    ///
    /// - Parameters:
    ///   - generation: The place in the order, from 1 to ``maximumGeneration``.
    ///   - date: When it is made, in seconds since 1970.
    ///   - key: The key, 32 bytes.
    ///   - sign: Makes the account's signature of the content.
    public init(generation: Int64, date: Int64, key: [UInt8], sign: (_ content: [UInt8]) -> [UInt8]) {
        precondition(key.count == Self.keyLength && (1...Self.maximumGeneration).contains(generation))
        self.generation = generation
        self.date = date
        self.key = key
        signature = sign(Self.content(generation: generation, date: date, key: key))
    }

    /// Takes one apart: generation in 8 bytes, date in 8, key in 32, signature.
    ///
    /// - Returns: Nil where the bytes are none.
    public init?(bytes: [UInt8]) {
        let keyEnd = 16 + Self.keyLength
        guard bytes.count >= keyEnd, signatureLengths.contains(bytes.count - keyEnd),
            let generation = Int64(exactly: number(in: bytes[..<8])),
            (1...Self.maximumGeneration).contains(generation),
            let date = Int64(exactly: number(in: bytes[8..<16])), date <= latestDate
        else { return nil }
        self.generation = generation
        self.date = date
        key = Array(bytes[16..<keyEnd])
        signature = Array(bytes[keyEnd...])
    }

    /// The key.
    public var subject: [UInt8] { key }
    /// What is signed.
    public var content: [UInt8] { Self.content(generation: generation, date: date, key: key) }
    /// The higher generation counts; of two keys of one generation, the one with the higher bytes.
    public var rank: [UInt8] { HandoffModel.bytes(of: UInt64(generation)) + key + bytes }

    private static func content(generation: Int64, date: Int64, key: [UInt8]) -> [UInt8] {
        HandoffModel.bytes(of: UInt64(generation)) + HandoffModel.bytes(ofDate: date) + key
    }
}
