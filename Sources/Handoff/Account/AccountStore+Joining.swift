public import FoundationEssentials
public import HandoffDiscovery
public import HandoffModel
public import HandoffSupport
import HandoffTransport

/// What became of joining an account.
public struct JoinedAccount: Hashable, Sendable {
    /// The identities that were given, the first for apps that ask for no team.
    public let machines: [MachineSummary]
    /// What the inviting machine calls itself; printed through an escape only.
    public let inviter: String
    /// The identities that were here before and are replaced: their machines should be revoked.
    public let replaced: [MachineSummary]
}

extension AccountStore {
    /// How long an invitation is looked for.
    public static let searchLimit = Duration.seconds(15)
    /// How long others are tried after an invitation was found that has another code.
    private static let furtherSearchLimit = Duration.seconds(3)

    /// Joins an account by an invitation that is found on the local network.
    ///
    /// - Parameters:
    ///   - code: The invitation's code.
    ///   - host: This machine's name for people.
    ///   - discovery: What finds services of the type ``Invitation/serviceType``.
    ///   - clock: What limits are measured by.
    ///   - wallClock: This machine's clock.
    /// - Throws: ``EnrolmentError``, ``AccountError``, ``IdentityError``; `CancellationError`.
    public func join(
        code: InvitationCode,
        host: String,
        discovery: any Discovery,
        clock: MonotonicClock = .system,
        wallClock: @escaping @Sendable () -> Date = { Date() }
    ) async throws -> JoinedAccount {
        try checkCanJoin()
        return try await withThrowingTaskGroup(of: EnrolmentConnection?.self) { group in
            defer { group.cancelAll() }
            group.addTask {
                try await discovery.run()
                return nil
            }
            group.addTask { try await search(discovery, code: code, clock: clock) }
            while let found = try await group.next() {
                if let found { return try await join(over: found, host: host, wallClock: wallClock) }
            }
            throw CancellationError()
        }
    }

    /// Joins an account by an invitation whose address is known.
    ///
    /// - Parameters:
    ///   - code: The invitation's code.
    ///   - host: This machine's name for people.
    ///   - addresses: Where the inviting machine may be, tried in order; those of `NetworkPlace` for example, with
    ///     ``Invitation/ports``.
    ///   - clock: What limits are measured by.
    ///   - wallClock: This machine's clock.
    /// - Throws: ``EnrolmentError``, ``AccountError``, ``IdentityError``; `CancellationError`.
    public func join(
        code: InvitationCode,
        host: String,
        addresses: [SocketAddress],
        clock: MonotonicClock = .system,
        wallClock: @escaping @Sendable () -> Date = { Date() }
    ) async throws -> JoinedAccount {
        try checkCanJoin()
        let key = try await makeKey(code: code, salt: PreSharedKey.fixedSalt)
        do {
            let connection = try await Self.dial(addresses, key: key, clock: clock)
            return try await join(over: connection, host: host, wallClock: wallClock)
        } catch let failure as EnrolmentFailure {
            throw EnrolmentError(failure)
        }
    }

    private func checkCanJoin() throws {
        try recover()
        guard try FileStatus.of(accountDirectory) == nil else {
            throw AccountError(
                .exists,
                "this machine holds the key of an account; to give that up first: handoff account leave"
            )
        }
    }

    /// Connects to the first address that knows the code.
    private static func dial(
        _ addresses: [SocketAddress],
        key: PreSharedKey,
        clock: MonotonicClock
    ) async throws -> EnrolmentConnection {
        var failure = EnrolmentFailure.unreachable("no address is known for that machine")
        // One machine's addresses: a port that has answered would only count the same wrong code again.
        var answered: Set<UInt16> = []
        for address in addresses where !answered.contains(address.port) {
            do {
                return try await EnrolmentConnection.dial(address, key: key, clock: clock)
            } catch let error as EnrolmentFailure {
                if case .unreachable = error {
                    if answered.isEmpty { failure = error }
                } else {
                    // An answer tells more than silence at the next port.
                    failure = error
                    answered.insert(address.port)
                }
            }
        }
        throw failure
    }

    /// What a search has come to so far.
    private struct Search {
        var end: Duration
        var failure = EnrolmentError(
            .noInvitation,
            "no invitation was found: run handoff account invite on the other machine, see that both are on the same "
                + "network and that no firewall drops mDNS (UDP port 5353), or name it: --peer HOST"
        )
    }

    private func search(
        _ discovery: any Discovery,
        code: InvitationCode,
        clock: MonotonicClock
    ) async throws -> EnrolmentConnection? {
        var search = Search(end: clock.now + Self.searchLimit)
        var tried: Set<[UInt8]> = []
        while true {
            let remaining = search.end - clock.now
            guard remaining > .zero else { throw search.failure }
            let event = try await withDeadline(remaining, clock: clock, timeoutError: search.failure) {
                try await discovery.events.next()
            }
            switch event {
            case .found(let service):
                guard let salt = Self.salt(in: service.text), tried.insert(salt).inserted else { continue }
                let key = try await makeKey(code: code, salt: salt)
                do {
                    return try await Self.dial(service.addresses, key: key, clock: clock)
                } catch let failure as EnrolmentFailure {
                    search.failure = EnrolmentError(failure)
                    if case .unreachable = failure { tried.remove(salt) }
                    if failure == .wrongCode { search.end = min(search.end, clock.now + Self.furtherSearchLimit) }
                }
            case .unavailable(let error):
                throw EnrolmentError(.unreachable, "\(error.message), or name the other machine: --peer HOST")
            case nil:
                return nil
            default:
                continue
            }
        }
    }

    private static func salt(in text: [[UInt8]]) -> [UInt8]? {
        let prefix = Array("sl=".utf8)
        let salts = text.filter { $0.starts(with: prefix) }
        guard salts.count == 1,
            let salt = BaseEncoding.decodeBase64URL(String(decoding: salts[0].dropFirst(prefix.count), as: UTF8.self)),
            salt.count == PreSharedKey.saltLength
        else { return nil }
        return salt
    }

    private func join(
        over connection: EnrolmentConnection,
        host: String,
        wallClock: @Sendable () -> Date
    ) async throws -> JoinedAccount {
        var channel = EnrolmentChannel(connection)
        let machine = NewMachine()
        do {
            let request = EnrolmentRequest(
                certificateRequest: machine.certificateRequest(),
                host: host,
                time: wallClock()
            )
            try await channel.send(.request(request))
            let grant: EnrolmentGrant
            switch try await channel.receive() {
            case .grant(let given): grant = given
            case .refused(let reason, let message):
                throw EnrolmentError(reason == EnrolmentMessage.clocksDiffer ? .clocksDiffer : .refused, message)
            default: throw EnrolmentError.violation
            }
            let joined = try take(grant, for: machine)
            // It is done, whether the other machine hears of it or not.
            try? await channel.send(.saved)
            await channel.close()
            return joined
        } catch let failure as EnrolmentFailure {
            throw EnrolmentError(failure)
        } catch {
            // Nothing of the failure that the other machine's user has no use for.
            try? await channel.send(.refused(reason: "failed", message: "it could not use what it was given"))
            await channel.close()
            throw error
        }
    }

    /// Checks what was given as any peer would, and saves it.
    private func take(_ grant: EnrolmentGrant, for machine: NewMachine) throws -> JoinedAccount {
        let identities: [Identity]
        do {
            identities = try grant.certificates.map { certificate in
                try machine.identity(account: grant.account, certificate: certificate, discoveryKey: grant.discoveryKey)
            }
        } catch let error as IdentityError {
            throw EnrolmentError(.untrustworthy, "what the other machine has issued cannot be used: \(error)")
        }
        guard Set(identities.map(\.machineID)).count == 1, Set(identities.map(\.teamID)).count == identities.count
        else {
            throw EnrolmentError(
                .untrustworthy,
                "the certificates that the other machine has issued do not fit together"
            )
        }
        let directories = identities.enumerated().map { index, identity in
            index == 0 ? identityDirectory : identityDirectory(team: identity.teamID)
        }
        // One that cannot be read is replaced as well; nobody can say what it was.
        let replaced = try identityDirectories().filter(directories.contains).compactMap { directory in
            (try? Identity(unverifiedIn: directory)).map { MachineSummary($0, directory: directory) }
        }
        try save(identities)
        return JoinedAccount(
            machines: zip(identities, directories).map { MachineSummary($0, directory: $1) },
            inviter: grant.host,
            replaced: replaced
        )
    }
}
