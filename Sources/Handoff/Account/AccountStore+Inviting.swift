public import FoundationEssentials
public import HandoffDiscovery
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
    ///   `TransportError` where no port is free.
    public func invite(
        host: String,
        teams: [String] = [standardTeam],
        discovery: (any Discovery)?,
        ports: ClosedRange<UInt16> = Invitation.ports,
        clock: MonotonicClock = .system,
        wallClock: @escaping @Sendable () -> Date = { Date() },
        onEvent: @escaping @Sendable (Invitation.Event) -> Void = { _ in }
    ) throws -> Invitation {
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
        return try Invitation(
            store: self,
            authority: AccountAuthority(directory: accountDirectory),
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
