/// The SHA-256 digest of some content: what files are agreed on, checked, and stored by.
public struct ContentDigest: Hashable, Sendable, Codable, LosslessStringConvertible {
    /// How many bytes a digest has.
    public static let byteCount = 32

    /// The digest, ``byteCount`` bytes.
    public let bytes: [UInt8]

    /// Takes the bytes of a digest.
    ///
    /// - Returns: Nil where they are not exactly ``byteCount``.
    public init?(bytes: [UInt8]) {
        guard bytes.count == Self.byteCount else { return nil }
        self.bytes = bytes
    }

    /// Reads the form that ``description`` has.
    ///
    /// - Returns: Nil for anything but 64 lower-case hexadecimal digits.
    public init?(_ description: String) {
        guard let bytes = BaseEncoding.decodeHexadecimal(description) else { return nil }
        self.init(bytes: bytes)
    }

    /// The digest in lower-case hexadecimal, 64 digits.
    public var description: String { BaseEncoding.hexadecimal(bytes) }

    /// Reads the form that ``description`` has.
    ///
    /// - Throws: `DecodingError` for anything but 64 lower-case hexadecimal digits.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        guard let digest = ContentDigest(try container.decode(String.self)) else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "not a SHA-256 digest in hex")
        }
        self = digest
    }

    /// Writes the form that ``description`` has.
    ///
    /// - Throws: What the encoder throws.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(description)
    }
}
