public import FoundationEssentials

/// All that an account has said to its machines: whom it revoked, and which discovery keys it has had.
public struct AccountStatements: Hashable, Sendable {
    /// The machines that were taken out.
    public var revocations = StatementSet<Revocation>()
    /// The discovery keys; empty as long as nobody was revoked.
    public var keys = StatementSet<DiscoveryKeyStatement>()

    /// Makes an account that has said nothing.
    public init() {}

    /// Whether nothing was said.
    public var isEmpty: Bool { revocations.isEmpty && keys.isEmpty }

    /// Adds what another machine knows.
    public mutating func formUnion(_ other: AccountStatements) {
        revocations.formUnion(other.revocations)
        keys.formUnion(other.keys)
    }

    /// What is here and not there.
    public func subtracting(_ other: AccountStatements) -> AccountStatements {
        var rest = AccountStatements()
        rest.revocations = revocations.subtracting(other.revocations)
        rest.keys = keys.subtracting(other.keys)
        return rest
    }

    /// Drops what has no use any more: revocations whose certificates have ended, and keys that were replaced 400 days ago.
    ///
    /// - Parameter now: The time, in seconds since 1970.
    public mutating func removeExpired(at now: Int64) {
        revocations.removeAll { $0.isOver(at: now) }
        let all = keys.ordered
        // Of several of one generation, which two machines made at once, none has replaced the other.
        func isReplaced(_ statement: DiscoveryKeyStatement) -> Bool {
            all.contains { $0.generation > statement.generation && $0.date < now - Revocation.lifetime }
        }
        keys.removeAll(where: isReplaced)
    }

    /// Whether a machine was revoked.
    public func isRevoked(_ machine: UUID) -> Bool { revocations[machine] != nil }

    /// The discovery keys, the current one first, then those that it has replaced, the newest first.
    ///
    /// - Parameter own: The key of this machine's identity. Where no statement tells of it, it is newer than all: the
    ///   machine that invited this one has told it.
    public func discoveryKeys(own: [UInt8]) -> [[UInt8]] {
        let told = keys.ordered.map(\.key)
        return told.contains(own) ? told : [own] + told
    }

    // MARK: - As a file

    /// The statements and the account they are of, as a property list.
    ///
    /// - Parameter accountHash: SHA-256 of the account CA's public key, 32 bytes.
    /// - Throws: ``PropertyListError``, which these limits exclude.
    public func encoded(accountHash: [UInt8]) throws(PropertyListError) -> [UInt8] {
        try BinaryPropertyList.encode(
            .dictionary([
                "account": .data(Data(accountHash)), "revocations": Self.list(revocations.ordered),
                "keys": Self.list(keys.ordered),
            ])
        )
    }

    /// Reads what ``encoded(accountHash:)`` has written; no signature is checked.
    ///
    /// - Parameter accountHash: The account; of another one nothing is taken.
    /// - Returns: Nil where it is damaged.
    public init?(encoded: [UInt8], accountHash: [UInt8]) {
        guard let value = try? BinaryPropertyList.decode(encoded), let account = value["account"]?.dataValue,
            let revocations: [Revocation] = Self.statements(value["revocations"]),
            let keys: [DiscoveryKeyStatement] = Self.statements(value["keys"])
        else { return nil }
        guard Array(account) == accountHash else { return }
        self.revocations = StatementSet(revocations)
        self.keys = StatementSet(keys)
    }

    /// Statements as an array of data.
    static func list(_ statements: [some AccountStatement]) -> PropertyList {
        .array(statements.map { .data(Data($0.bytes)) })
    }

    /// Reads an array of data; nothing counts as an empty one.
    ///
    /// - Returns: Nil where it is something else, has more than `limit`, or one of them is no such statement.
    static func statements<Statement: AccountStatement>(
        _ value: PropertyList?,
        atMost limit: Int = Statement.maximumCount
    ) -> [Statement]? {
        guard let value else { return [] }
        guard let items = value.arrayValue, items.count <= limit else { return nil }
        let statements = items.compactMap { $0.dataValue.flatMap { Statement(bytes: Array($0)) } }
        return statements.count == items.count ? statements : nil
    }
}
