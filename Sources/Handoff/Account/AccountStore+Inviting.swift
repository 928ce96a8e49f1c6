public import FoundationEssentials
public import HandoffDiscovery
import HandoffModel
public import HandoffSupport
import HandoffTransport

extension AccountStore {
    /// Opens an invitation, which stands for ``Invitation/lifetime``; `run` waits for who follows it.
    ///
    /// - Parameters:
    ///   - host: This machine's name for people.
    ///   - teams: The teams that the new machine gets certificates for.
    ///   - discovery: How it is announced; nil where the other machine is told the address.
    ///   - ports: The ports to try, in order.
    ///   - clock: What the invitation's time is measured by.
    ///   - wallClock: What certificates are dated by.
    ///   - onEvent: Told what happens, on any thread.
    /// - Throws: ``AccountError/Code/noKey`` and others; ``IdentityError`` where the account cannot be used;
    ///   `TransportError` where no port is free; `CancellationError`.
    public func invite(
        host: String,
        teams: [String] = [standardTeam],
        discovery: (any Discovery)?,
        ports: ClosedRange<UInt16> = Invitation.ports,
        clock: MonotonicClock = .system,
        wallClock: @escaping @Sendable () -> Date = { Date() },
        onEvent: @escaping @Sendable (Invitation.Event) -> Void = { _ in }
    ) async throws -> Invitation {
        try Self.check(teams: teams)
        try recover()
        guard try FileStatus.of(accountDirectory) != nil else {
            guard try identityDirectories().isEmpty else {
                throw AccountError(
                    .noKey,
                    "this machine does not hold the account's key: invite on the machine where the account was made"
                )
            }
            throw AccountError.noAccount
        }
        let authority = try currentAuthority()
        guard let code = InvitationCode(bytes: Crypto.randomBytes(InvitationCode.byteCount)) else {
            preconditionFailure("as many bytes as a code has")
        }
        let salted = try await makeKey(code: code, salt: Crypto.randomBytes(PreSharedKey.saltLength))
        let fixed = try await makeKey(code: code, salt: PreSharedKey.fixedSalt)
        return try Invitation(
            store: self,
            authority: authority,
            code: code,
            keys: (salted, fixed),
            host: host,
            teams: teams,
            discovery: discovery,
            ports: ports,
            clock: clock,
            wallClock: wallClock,
            onEvent: onEvent
        )
    }
}
