import FoundationEssentials
import HandoffModel
import HandoffSupport
import HandoffTransport

/// What a running peer knows of its account beside its identity: who was revoked, and the discovery keys.
///
/// It is asked on any thread, in each handshake. What it takes in it has verified.
final class Membership: Sendable {
    /// After so many bad signatures in one message, the rest of it is not looked at.
    static let maximumRefusals = 16

    private struct State {
        var statements = AccountStatements()
        /// As certificates write them.
        var revoked: Set<String> = []
    }

    /// Files are read and written on a thread of their own.
    private static let executor = QueueExecutor(label: "handoff.members")

    /// Nil where everything is in memory alone.
    let files: MemberFiles?
    private let identity: Identity
    private let state = LockedBox(State())

    /// Reads what is known.
    ///
    /// - Parameters:
    ///   - identity: Who this machine is.
    ///   - now: The time, in seconds since 1970.
    /// - Throws: What ``MemberFiles/statements()`` throws: nobody is linked to while it is not known who was revoked.
    init(_ identity: Identity, now: Int64) throws {
        self.identity = identity
        files = identity.directory.map {
            MemberFiles(configuration: Directory.containing($0), accountHash: identity.accountHash)
        }
        if let files { take(try files.statements(), now: now) }
    }

    /// What the account has said, as far as it is known here.
    var statements: AccountStatements { state.withLock { $0.statements } }

    /// Whether a machine was revoked.
    func isRevoked(_ machineID: String?) -> Bool {
        machineID.map { machineID in state.withLock { $0.revoked.contains(machineID) } } ?? false
    }

    /// The discovery keys, the current one first.
    func discoveryKeys() -> [[UInt8]] { statements.discoveryKeys(own: identity.discoveryKey) }

    /// Whether this machine holds the account's key.
    var holdsKey: Bool {
        guard let files else { return false }
        return (try? FileStatus.of(AccountStore(configuration: files.configuration).accountDirectory)) ?? nil != nil
    }

    /// Takes in what the account is said to have said.
    ///
    /// - Parameter now: The time, in seconds since 1970; what is over is not taken.
    /// - Returns: What was not known; and how many signatures were bad.
    @discardableResult
    func take(_ told: AccountStatements, now: Int64) -> (news: AccountStatements, refusals: Int) {
        let known = statements
        var unknown = told.subtracting(known)
        unknown.removeExpired(at: now)
        var refusals = 0
        func verified<Statement: AccountStatement>(_ set: StatementSet<Statement>) -> StatementSet<Statement> {
            StatementSet(
                set.ordered.filter { statement in
                    guard refusals < Self.maximumRefusals else { return false }
                    let isGood = identity.isSigned(
                        statement.signedBytes(accountHash: identity.accountHash),
                        by: statement.signature
                    )
                    if !isGood { refusals += 1 }
                    return isGood
                }
            )
        }
        var good = AccountStatements()
        good.revocations = verified(unknown.revocations)
        good.keys = verified(unknown.keys)
        let news = state.withLock { state in
            let before = state.statements
            state.statements.formUnion(good)
            state.statements.removeExpired(at: now)
            state.revoked = Set(state.statements.revocations.ordered.map { $0.machine.uuidString.lowercased() })
            return state.statements.subtracting(before)
        }
        return (news, refusals)
    }

    // MARK: - Files

    /// Does something with the files, away from the tasks that others wait for.
    ///
    /// - Returns: Nil where there are no files.
    func onDisk<Result: Sendable>(_ body: @escaping @Sendable (MemberFiles) throws -> Result) async throws -> Result? {
        guard let files else { return nil }
        return try await Self.executor.run { try body(files) }
    }
}
