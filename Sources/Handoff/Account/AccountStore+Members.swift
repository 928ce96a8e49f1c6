public import FoundationEssentials
import HandoffModel
import HandoffSupport
import HandoffTransport

/// A machine of the account, as far as this one knows it.
public struct AccountMember: Hashable, Sendable {
    /// The machine's id, a lower-case UUID.
    public let machineID: String
    /// What it calls itself; nil where it was never met.
    ///
    /// It is the machine's own word, and printed through an escape only.
    public let host: String?
    /// Its teams, in order, as far as they were seen.
    public let teams: [String]
    /// When this machine had a link to it last; nil where it had none.
    public let lastSeen: Date?
    /// When its certificate ends, as far as that was seen.
    public let certificateEnd: Date?
    /// When it was revoked; nil where it was not.
    public let revoked: Date?
    /// Whether it is this machine.
    public let isThisMachine: Bool
    /// Whether it holds the account's key; nil where that is not known.
    public let holdsKey: Bool?
}

extension AccountStore {
    /// The machines of the account that this one knows, itself among them, and those that were revoked.
    ///
    /// - Parameter host: This machine's name for people.
    /// - Returns: This machine first, then the others in the order of their names, those that were revoked last.
    /// - Throws: ``AccountError``, ``IdentityError``.
    public func members(host: String) throws -> [AccountMember] {
        let account = try summary()
        let files = try memberFiles(account)
        let (known, statements) = (files.machines(), try files.statements())
        func member(_ id: UUID) -> AccountMember {
            let machine = known[id]
            let name = id.uuidString.lowercased()
            let own = account.machines.filter { $0.machineID == name }
            return AccountMember(
                machineID: name,
                host: own.isEmpty ? machine?.host : host,
                teams: own.isEmpty ? (machine?.teams.sorted() ?? []) : own.map(\.team),
                lastSeen: own.isEmpty ? machine?.lastSeen : nil,
                certificateEnd: own.map(\.notAfter).min() ?? machine?.certificateEnd,
                revoked: statements.revocations[id].map { Date(timeIntervalSince1970: TimeInterval($0.date)) },
                isThisMachine: !own.isEmpty,
                holdsKey: own.isEmpty ? machine?.holdsKey : account.holdsKey
            )
        }
        let ids = Set(account.machines.compactMap { UUID(uuidString: $0.machineID) })
            .union(known.all.map(\.id)).union(statements.revocations.ordered.map(\.machine))
        return ids.map(member).sorted { $0.place < $1.place }
    }

    /// Finds a machine of the account.
    ///
    /// - Parameters:
    ///   - name: A machine id, an unambiguous beginning of one, or a host's name. A whole machine id need not be known
    ///     here.
    ///   - members: Where to look: ``members(host:)``.
    /// - Throws: ``AccountError/Code/noMachine``; ``AccountError/Code/ambiguous``, with all that it may be.
    public static func member(named name: String, of members: [AccountMember]) throws(AccountError) -> AccountMember {
        let beginning = name.lowercased()
        let found = members.filter { $0.host == name || (!name.isEmpty && $0.machineID.hasPrefix(beginning)) }
        // Of the machines that one host has been, only the one that is not revoked can be meant.
        let living = found.filter { $0.revoked == nil }
        if let only = living.count == 1 ? living.first : found.count == 1 ? found.first : nil { return only }
        guard found.isEmpty else {
            let list = found.map { "\n  \($0.machineID)  \($0.host ?? "-")" }.joined()
            throw AccountError(.ambiguous, "“\(name)” may be one of these, so name its machine id:\(list)")
        }
        guard let id = UUID(uuidString: name) else {
            throw AccountError(
                .noMachine,
                "no machine of the account is known here as “\(name)”; name its whole machine id, or look: handoff account peers"
            )
        }
        return AccountMember(
            machineID: id.uuidString.lowercased(),
            host: nil,
            teams: [],
            lastSeen: nil,
            certificateEnd: nil,
            revoked: nil,
            isThisMachine: false,
            holdsKey: nil
        )
    }

    /// Takes a machine out of the account, and makes the account a new discovery key that it does not get to know.
    ///
    /// Peers that run here hear of it at once, and others from them; where none runs, at the next start.
    ///
    /// - Parameters:
    ///   - member: The machine.
    ///   - allowsThisMachine: Whether it may be this one.
    ///   - now: The time.
    /// - Throws: ``AccountError``: `noKey` where this machine does not hold the account's key, `thisMachine`, `full`;
    ///   ``IdentityError`` where the account cannot be used.
    public func revoke(_ member: AccountMember, allowsThisMachine: Bool = false, now: Date = Date()) throws {
        try checkCanRevoke(member, allowsThisMachine: allowsThisMachine)
        guard let id = UUID(uuidString: member.machineID) else {
            throw AccountError(.noMachine, "“\(member.machineID)” is no machine id")
        }
        let authority = try currentAuthority()
        let files = MemberFiles(configuration: configuration, accountHash: authority.accountHash)
        let known = files.machines()[id]
        let seconds = Int64(now.timeIntervalSince1970)
        // It has to count for as long as any certificate of the machine, whatever the clock that issued it showed.
        let end = member.certificateEnd.map { Int64($0.timeIntervalSince1970) } ?? 0
        let date = max(seconds, end - Revocation.lifetime)
        do {
            var statements = try files.statements()
            statements.removeExpired(at: seconds)
            guard statements.revocations[id] == nil else { return }
            guard statements.revocations.count < Revocation.maximumCount else {
                throw AccountError(
                    .full,
                    "this account has revoked \(Revocation.maximumCount) machines in 400 days, and can revoke no more: make a new one"
                )
            }
            var news = AccountStatements()
            news.revocations.insert(authority.revocation(of: id, serial: known?.serial ?? [], date: date))
            for key in authority.nextDiscoveryKeys(after: statements, date: seconds) { news.keys.insert(key) }
            try files.add(news, now: seconds)
        } catch let error as SystemError {
            throw AccountError(error)
        }
    }

    /// Looks whether a machine can be revoked here, before anybody is asked whether it should be.
    ///
    /// - Throws: ``AccountError``: `noKey` where this machine does not hold the account's key, `thisMachine`.
    public func checkCanRevoke(_ member: AccountMember, allowsThisMachine: Bool = false) throws {
        guard try FileStatus.of(accountDirectory) != nil else {
            let holders = try members(host: "").filter { $0.holdsKey == true }.compactMap(\.host)
            let place =
                holders.isEmpty ? "the machine where the account was made" : holders.joined(separator: ", or on ")
            throw AccountError(.noKey, "this machine does not hold the account's key: revoke on \(place)")
        }
        guard !member.isThisMachine || allowsThisMachine else {
            throw AccountError(
                .thisMachine,
                "that is this machine: to make it one of no account run handoff account leave, or with --force revoke it"
            )
        }
    }

    /// The account's authority with its current discovery key.
    func currentAuthority() throws -> AccountAuthority {
        let authority = try AccountAuthority(directory: accountDirectory)
        let files = MemberFiles(configuration: configuration, accountHash: authority.accountHash)
        let keys = try files.statements().discoveryKeys(own: authority.discoveryKey)
        return authority.with(discoveryKey: keys.first ?? authority.discoveryKey)
    }

    /// Remembers a machine that was just enrolled; that it cannot be remembered is no reason to fail.
    func note(_ machine: KnownMachine, accountHash: [UInt8]) {
        try? MemberFiles(configuration: configuration, accountHash: accountHash).note(machine)
    }

    private func memberFiles(_ account: AccountSummary) throws -> MemberFiles {
        MemberFiles(
            configuration: configuration,
            accountHash: BaseEncoding.decodeHexadecimal(account.hash) ?? []
        )
    }
}

extension AccountAuthority {
    /// Takes a machine out of the account.
    func revocation(of machine: UUID, serial: [UInt8], date: Int64) -> Revocation {
        Revocation(machine: machine, serial: serial, date: date) { content in
            sign(Revocation.signedBytes(of: content, accountHash: accountHash))
        }
    }

    /// The discovery key after those that are known, and the first one where no statement tells of it yet.
    func nextDiscoveryKeys(after statements: AccountStatements, date: Int64) -> [DiscoveryKeyStatement] {
        func statement(_ generation: Int64, _ key: [UInt8]) -> DiscoveryKeyStatement {
            DiscoveryKeyStatement(generation: generation, date: date, key: key) { content in
                sign(DiscoveryKeyStatement.signedBytes(of: content, accountHash: accountHash))
            }
        }
        let highest = statements.keys.ordered.first?.generation ?? 0
        let isTold = statements.keys[discoveryKey] != nil
        let present = isTold ? highest : highest + 1
        let next = min(present + 1, DiscoveryKeyStatement.maximumGeneration)
        return (isTold ? [] : [statement(present, discoveryKey)])
            + [statement(next, discoveryKey(ofGeneration: next))]
    }
}

extension AccountMember {
    /// What they are ordered by.
    fileprivate var place: (Int, String, String) {
        (isThisMachine ? 0 : revoked == nil ? 1 : 2, host ?? "", machineID)
    }
}
