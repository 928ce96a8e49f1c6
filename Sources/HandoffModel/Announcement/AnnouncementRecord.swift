import HandoffSupport

/// What a peer's TXT record says: to strangers nothing but the protocol's versions.
///
/// All of it is ASCII and its length is always the same, but for the versions, which depend on the software alone.
public struct AnnouncementRecord: Equatable, Sendable {
    /// The protocol versions that the peer speaks.
    public var versions: ProtocolVersions
    /// What the tags were made with.
    public var salt: DiscoverySalt
    /// Tells the peer's account to those who share its discovery key.
    public var accountTag: DiscoveryTag
    /// Tells the peer's team to those who share its account's discovery key.
    public var teamTag: DiscoveryTag

    /// Makes a record.
    public init(versions: ProtocolVersions, salt: DiscoverySalt, accountTag: DiscoveryTag, teamTag: DiscoveryTag) {
        self.versions = versions
        self.salt = salt
        self.accountTag = accountTag
        self.teamTag = teamTag
    }

    /// The strings of the TXT record, `txtvers` first as RFC 6763 section 6.7 has it.
    public var strings: [[UInt8]] {
        let values = [
            (Key.recordVersion, Self.recordVersion),
            (Key.versions, versions.description),
            (Key.salt, BaseEncoding.base64URL(salt.bytes)),
            (Key.accountTag, BaseEncoding.base64URL(accountTag.bytes)),
            (Key.teamTag, BaseEncoding.base64URL(teamTag.bytes)),
        ]
        return values.map { key, value in Array("\(key.rawValue)=\(value)".utf8) }
    }

    /// Reads the strings of a TXT record.
    ///
    /// Their order is free, keys are in either case (RFC 6763 section 6.4), and unknown keys are ignored.
    ///
    /// - Throws: ``NotAPeer`` where a known key is missing, malformed or stands twice, or `txtvers` is not 1.
    public init(strings: [[UInt8]]) throws(NotAPeer) {
        let values = try Self.values(in: strings)
        guard try Self.value(of: .recordVersion, in: values) == Self.recordVersion else {
            throw NotAPeer(.unsupportedRecord, key: Key.recordVersion.rawValue)
        }
        versions = try Self.value(of: .versions, in: values, as: ProtocolVersions.init)
        salt = try Self.value(of: .salt, in: values) { BaseEncoding.decodeBase64URL($0).flatMap(DiscoverySalt.init) }
        accountTag = try Self.value(of: .accountTag, in: values, as: Self.tag)
        teamTag = try Self.value(of: .teamTag, in: values, as: Self.tag)
    }

    /// The version of the record's form, which is another thing than the protocol's.
    private static let recordVersion = "1"

    private enum Key: String, CaseIterable {
        case recordVersion = "txtvers"
        case versions = "v"
        case salt = "sl"
        case accountTag = "ah"
        case teamTag = "tm"
    }

    /// Finds the values of the known keys; a key without "=" has none, which is malformed for each of ours.
    private static func values(in strings: [[UInt8]]) throws(NotAPeer) -> [Key: String] {
        var values: [Key: String] = [:]
        for string in strings {
            let parts = string.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
            guard let name = String(validating: parts[0], as: Unicode.ASCII.self),
                let key = Key(rawValue: name.lowercased())
            else { continue }
            guard parts.count == 2, let value = String(validating: parts[1], as: Unicode.ASCII.self) else {
                throw NotAPeer(.malformed, key: key.rawValue)
            }
            guard values.updateValue(value, forKey: key) == nil else { throw NotAPeer(.duplicate, key: key.rawValue) }
        }
        return values
    }

    private static func value(of key: Key, in values: [Key: String]) throws(NotAPeer) -> String {
        guard let value = values[key] else { throw NotAPeer(.missing, key: key.rawValue) }
        return value
    }

    private static func value<Value>(
        of key: Key,
        in values: [Key: String],
        as parse: (String) -> Value?
    ) throws(NotAPeer) -> Value {
        guard let value = parse(try value(of: key, in: values)) else { throw NotAPeer(.malformed, key: key.rawValue) }
        return value
    }

    private static func tag(_ text: String) -> DiscoveryTag? {
        BaseEncoding.decodeBase64URL(text).flatMap(DiscoveryTag.init)
    }
}

/// Why a TXT record is not one of a peer.
public struct NotAPeer: Error, Equatable, CustomStringConvertible {
    /// The kinds of reason.
    public struct Code: Hashable, Sendable {
        private enum Kind { case missing, malformed, duplicate, unsupportedRecord }

        private let kind: Kind

        /// A key that each peer has is not there.
        public static let missing = Code(kind: .missing)
        /// The value of a known key is not what it should be.
        public static let malformed = Code(kind: .malformed)
        /// A known key stands twice.
        public static let duplicate = Code(kind: .duplicate)
        /// The record is of another form than ours, perhaps of a later one.
        public static let unsupportedRecord = Code(kind: .unsupportedRecord)

        fileprivate var reason: String {
            switch kind {
            case .missing: "is missing"
            case .malformed: "is malformed"
            case .duplicate: "stands twice"
            case .unsupportedRecord: "is not supported; newer software may be needed here"
            }
        }
    }

    /// The kind of reason.
    public let code: Code
    /// What is wrong, in words that hold nothing of the record but the name of one of our keys.
    public let message: String

    fileprivate init(_ code: Code, key: String) {
        self.code = code
        message = "\(key) \(code.reason)"
    }

    /// Two reasons are equal when their kind is.
    public static func == (left: NotAPeer, right: NotAPeer) -> Bool { left.code == right.code }

    /// What is wrong.
    public var description: String { "not a peer: \(message)" }
}
