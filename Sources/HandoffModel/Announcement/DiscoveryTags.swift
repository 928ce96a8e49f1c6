import HandoffSupport

/// HMAC-SHA256: 32 bytes for a key and a message.
///
/// It is passed in, since this module knows no C library.
public typealias MessageAuthenticator = @Sendable (_ key: [UInt8], _ message: [UInt8]) -> [UInt8]

/// What an app tells of its account and team in its announcement, and how it finds the same in those of others.
///
/// Only who has the account's discovery key can make or test a tag. A match saves a useless connection and proves
/// nothing: trust comes from TLS alone.
public struct DiscoveryTags: Sendable {
    private let accountHash: [UInt8]
    private let team: TeamID
    private let authenticator: MessageAuthenticator

    /// Makes the tags of an account and a team.
    ///
    /// - Parameters:
    ///   - accountHash: SHA-256 of the account CA's public key.
    ///   - team: The app's team.
    ///   - authenticator: HMAC-SHA256.
    public init(accountHash: [UInt8], team: TeamID, authenticator: @escaping MessageAuthenticator) {
        self.accountHash = accountHash
        self.team = team
        self.authenticator = authenticator
    }

    /// The record to announce with a salt that was never used before.
    public func record(versions: ProtocolVersions, salt: DiscoverySalt, key: [UInt8]) -> AnnouncementRecord {
        AnnouncementRecord(
            versions: versions,
            salt: salt,
            accountTag: accountTag(salt: salt, key: key),
            teamTag: teamTag(salt: salt, key: key)
        )
    }

    /// Compares a record with our account and team.
    ///
    /// - Parameters:
    ///   - record: A record that was found.
    ///   - keys: The account's discovery keys, the current one first, then those retired.
    public func match(_ record: AnnouncementRecord, keys: [[UInt8]]) -> DiscoveryMatch {
        // Every key is tried and every tag compared, so that the time taken tells nothing.
        var match = DiscoveryMatch(account: false, team: false, keyIndex: nil)
        for (index, key) in keys.enumerated() {
            let isAccount = accountTag(salt: record.salt, key: key) == record.accountTag
            let isTeam = teamTag(salt: record.salt, key: key) == record.teamTag
            if isAccount { match = DiscoveryMatch(account: true, team: isTeam, keyIndex: index) }
        }
        return match
    }

    private func accountTag(salt: DiscoverySalt, key: [UInt8]) -> DiscoveryTag {
        DiscoveryTag(truncating: authenticator(key, Array("account".utf8) + salt.bytes + accountHash))
    }

    private func teamTag(salt: DiscoverySalt, key: [UInt8]) -> DiscoveryTag {
        DiscoveryTag(truncating: authenticator(key, Array("team".utf8) + salt.bytes + team.description.utf8))
    }
}

/// What a record has in common with us.
public struct DiscoveryMatch: Hashable, Sendable {
    /// Whether it is of our account.
    public let account: Bool
    /// Whether it is of our account and our team.
    public let team: Bool
    /// The place of the discovery key that the peer has, among those given; nil where the account is another.
    public let keyIndex: Int?
}

/// A tag in an announcement: the first 16 bytes of an HMAC-SHA256.
public struct DiscoveryTag: Equatable, Sendable {
    /// The 16 bytes.
    public let bytes: [UInt8]

    private static let length = 16

    /// Takes a tag from a record.
    ///
    /// - Returns: Nil where there are not 16 bytes.
    public init?(_ bytes: [UInt8]) {
        guard bytes.count == Self.length else { return nil }
        self.bytes = bytes
    }

    fileprivate init(truncating digest: [UInt8]) {
        precondition(digest.count >= Self.length, "HMAC-SHA256 gives 32 bytes")
        bytes = Array(digest.prefix(Self.length))
    }

    /// Compares all bytes, whichever differ, so that the time taken tells nothing.
    public static func == (left: DiscoveryTag, right: DiscoveryTag) -> Bool {
        zip(left.bytes, right.bytes).reduce(0) { $0 | ($1.0 ^ $1.1) } == 0
    }
}

/// What makes the tags of two announcements of one peer differ: 8 random bytes.
public struct DiscoverySalt: Hashable, Sendable {
    /// The 8 bytes.
    public let bytes: [UInt8]

    private static let length = 8

    /// Takes a salt from a record.
    ///
    /// - Returns: Nil where there are not 8 bytes.
    public init?(_ bytes: [UInt8]) {
        guard bytes.count == Self.length else { return nil }
        self.bytes = bytes
    }

    private init(using generator: inout some RandomNumberGenerator) {
        bytes = randomBytes(Self.length, using: &generator)
    }

    /// Draws a new salt.
    ///
    /// - Parameter generator: Where the randomness comes from.
    public static func make(using generator: inout some RandomNumberGenerator) -> DiscoverySalt {
        DiscoverySalt(using: &generator)
    }
}

/// The name of a service instance, which tells nothing of app, user or machine.
public enum InstanceName {
    private static let digits = 10

    /// Draws a new name: "h-" and 10 base32 characters.
    ///
    /// - Parameter generator: Where the randomness comes from.
    public static func make(using generator: inout some RandomNumberGenerator) -> String {
        // Seven bytes are eleven whole characters and a partial one, which is left out.
        "h-" + BaseEncoding.base32(randomBytes(7, using: &generator)).prefix(digits)
    }
}

private func randomBytes(_ count: Int, using generator: inout some RandomNumberGenerator) -> [UInt8] {
    (0..<count).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
}
