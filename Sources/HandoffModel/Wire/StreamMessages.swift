public import FoundationEssentials
public import HandoffSupport

/// What a stream is asked for.
public enum StreamSource: Hashable, Sendable {
    /// To talk with the app about an activity that was fetched.
    case activity(UUID)
    /// To get a file.
    case blob(BlobRequest)
}

/// Which file a stream is to bring, and what of it is there already.
public struct BlobRequest: Hashable, Sendable {
    /// The digest of the whole file.
    public let digest: ContentDigest
    /// Its length in bytes.
    public let size: Int64
    /// How much of the beginning is there already.
    public let offset: Int64
    /// The digest of this beginning.
    public let prefix: ContentDigest

    /// Makes a request.
    public init(digest: ContentDigest, size: Int64, offset: Int64, prefix: ContentDigest) {
        self.digest = digest
        self.size = size
        self.offset = offset
        self.prefix = prefix
    }

    init?(_ value: PropertyList) {
        func digest(_ key: String) -> ContentDigest? {
            value[key]?.dataValue.flatMap { ContentDigest(bytes: Array($0)) }
        }
        guard let whole = digest("sha256"), let prefix = digest("prefix"),
            let size = value["size"]?.integerValue, let offset = value["offset"]?.integerValue,
            offset >= 0, size >= offset
        else { return nil }
        self.init(digest: whole, size: Int64(size), offset: Int64(offset), prefix: prefix)
    }

    var propertyList: PropertyList {
        .dictionary([
            "sha256": .data(Data(digest.bytes)), "size": .integer(Int(size)), "offset": .integer(Int(offset)),
            "prefix": .data(Data(prefix.bytes)),
        ])
    }
}

/// What admits one stream connection.
public struct StreamTicket: Hashable, Sendable {
    /// The one-time token.
    public let token: StreamToken
    /// The TCP port that the stream is to be dialled at, at the address of the link.
    public let port: UInt16
    /// Where in a blob the stream will begin.
    public let offset: Int64

    /// Makes a ticket.
    public init(token: StreamToken, port: UInt16, offset: Int64) {
        self.token = token
        self.port = port
        self.offset = offset
    }

    init?(_ value: PropertyList) {
        guard let token = value["token"]?.dataValue.flatMap({ StreamToken(Array($0)) }),
            let port = value["port"]?.integerValue.flatMap({ UInt16(exactly: $0) }), port > 0,
            let offset = value["offset"].map({ $0.integerValue }) ?? 0, offset >= 0
        else { return nil }
        self.init(token: token, port: port, offset: Int64(offset))
    }

    var propertyList: [String: PropertyList] {
        ["token": .data(Data(token.bytes)), "port": .integer(Int(port)), "offset": .integer(Int(offset))]
    }
}

/// A secret that opens one stream, once.
public struct StreamToken: Hashable, Sendable {
    /// How many bytes it has.
    public static let byteCount = 32

    /// The secret.
    public let bytes: [UInt8]

    /// Takes the bytes of a token.
    ///
    /// - Returns: Nil where they are not exactly ``byteCount``.
    public init?(_ bytes: [UInt8]) {
        guard bytes.count == Self.byteCount else { return nil }
        self.bytes = bytes
    }

    /// Draws a token.
    public init(using generator: inout some RandomNumberGenerator) {
        bytes = (0..<Self.byteCount).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
    }
}

/// The messages of a stream connection, in frames as those of a link, and shorter.
///
/// They are the first one of the end that dialled, the last one of who got a blob, and those that apps send each other.
public enum StreamFrame {
    /// The longest body in bytes.
    public static let maximumBody = 4096

    /// The first message, which shows the token.
    public static func opening(_ token: StreamToken) -> [String: PropertyList] { ["token": .data(Data(token.bytes))] }

    /// Reads the first message.
    ///
    /// - Returns: Nil for anything else.
    public static func token(in message: [String: PropertyList]) -> StreamToken? {
        message["token"]?.dataValue.flatMap { StreamToken(Array($0)) }
    }

    /// The last message of who got a blob: that it is stored, or why not.
    public static func receipt(_ error: HandoffError?) -> [String: PropertyList] { error?.propertyList ?? [:] }

    /// Reads the last message.
    ///
    /// - Returns: Nil where the blob is stored.
    public static func failure(in receipt: [String: PropertyList]) -> HandoffError? {
        receipt.isEmpty ? nil : HandoffError(.dictionary(receipt)) ?? HandoffError(.handoffFailed, "no reason was told")
    }

    /// Puts a message into a frame.
    ///
    /// - Returns: Nil where it cannot be encoded or is too long.
    public static func encode(_ message: [String: PropertyList]) -> [UInt8]? {
        guard let body = try? BinaryPropertyList.encode(.dictionary(message)), body.count <= maximumBody else {
            return nil
        }
        return try? Frame.encode(body)
    }

    /// Reads the body of a frame.
    ///
    /// - Returns: Nil where it is no dictionary.
    public static func decode(_ body: [UInt8]) -> [String: PropertyList]? {
        (try? BinaryPropertyList.decode(body))?.dictionaryValue
    }

    /// The length that the first four bytes of a frame tell.
    ///
    /// - Returns: Nil for a length that is not allowed.
    public static func length(_ header: [UInt8]) -> Int? {
        let length = header.reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        return (1...UInt64(maximumBody)).contains(length) ? Int(length) : nil
    }
}
