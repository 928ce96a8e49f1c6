public import FoundationEssentials
import HandoffModel
import HandoffSupport
import HandoffTransport

/// The account and the identities of this machine, as files in its configuration directory (certs/README.md).
///
/// Each directory is there as a whole or not at all; private keys are made here and never leave the machine.
public struct AccountStore: Sendable {
    /// The team of the project's apps, and of every other that asks for no team of its own.
    public static let standardTeam = "HANDOFFAPP"
    /// How many teams a machine may be given certificates for at once.
    public static let maximumTeams = EnrolmentMessage.maximumTeams

    /// The directory that all others are in.
    public let configuration: String
    /// What it costs to make a key of a code.
    private let keyCost: UInt64

    /// Names the directory, which need not be there yet.
    public init(configuration: String) {
        self.init(configuration: configuration, keyCost: PreSharedKey.cost)
    }

    /// For tests, which make many keys.
    init(configuration: String, keyCost: UInt64) {
        self.configuration = configuration
        self.keyCost = keyCost
    }

    /// Where the account's key is, on the machine that has it.
    public var accountDirectory: String { configuration + "/account" }
    /// Where the identity is that apps use which ask for no team of their own.
    public var identityDirectory: String { configuration + "/identity" }

    /// Where the identity for another team is.
    public func identityDirectory(team: String) -> String { "\(identityDirectory)-\(team)" }

    /// Makes an account and this machine's identity, or only the identity where an account is there without one.
    ///
    /// - Parameters:
    ///   - name: The account's name for people, 1 to 64 characters; only certificates tell it.
    ///   - teams: The team IDs; the first is that of apps which ask for no team.
    ///   - now: The time.
    /// - Throws: ``AccountError``; ``IdentityError`` where an account is there that cannot be used.
    public func create(name: String, teams: [String] = [standardTeam], now: Date = Date()) throws -> AccountSummary {
        try Self.check(teams: teams)
        try recover()
        guard try FileStatus.of(identityDirectory) == nil else {
            throw AccountError(
                .exists,
                "this machine is of an account already (handoff account show); to leave it: handoff account leave"
            )
        }
        let seconds = Int64(now.timeIntervalSince1970)
        let authority: AccountAuthority
        if try FileStatus.of(accountDirectory) != nil {
            authority = try currentAuthority()
        } else {
            guard AccountAuthority.isValid(name: name) else {
                throw AccountError(
                    .invalidName,
                    "an account's name has 1 to \(AccountAuthority.maximumName) characters, and no control characters"
                )
            }
            authority = AccountAuthority(name: name, now: seconds)
            try write(authority.files, to: accountDirectory)
        }
        let machine = NewMachine()
        let certificates = try issue(authority, request: machine.certificateRequest(), teams: teams, now: seconds)
        let identities = try certificates.ders.map { certificate in
            try machine.identity(
                account: authority.certificateDER,
                certificate: certificate,
                discoveryKey: authority.discoveryKey
            )
        }
        try save(identities)
        return try summary()
    }

    /// What this machine's account and identities are.
    ///
    /// - Throws: ``AccountError/Code/noAccount``; ``IdentityError`` where a file is missing, damaged, or open to others.
    public func summary() throws -> AccountSummary {
        try recover()
        let holdsKey = try FileStatus.of(accountDirectory) != nil
        let directories = try identityDirectories()
        guard holdsKey || !directories.isEmpty else { throw AccountError.noAccount }
        let machines = try directories.map { directory in
            MachineSummary(try Identity(unverifiedIn: directory), directory: directory)
        }
        if holdsKey {
            let authority = try AccountAuthority(directory: accountDirectory)
            return AccountSummary(
                name: authority.name,
                hash: BaseEncoding.hexadecimal(authority.accountHash),
                holdsKey: true,
                machines: machines
            )
        }
        let first = try Identity(unverifiedIn: directories[0])
        return AccountSummary(
            name: first.accountName,
            hash: BaseEncoding.hexadecimal(first.accountHash),
            holdsKey: false,
            machines: machines
        )
    }

    /// The directories that hold identities, that of the first team first.
    func identityDirectories() throws -> [String] {
        let prefix = "identity-"
        let names = try Directory.names(in: configuration)
        let others = names.filter { $0.hasPrefix(prefix) && TeamID(String($0.dropFirst(prefix.count))) != nil }.sorted()
        return ((names.contains("identity") ? ["identity"] : []) + others).map { "\(configuration)/\($0)" }
    }

    /// What the name of a directory gets at its end while it is being removed.
    static let leavingSuffix = ".leaving"

    /// Puts right what a process has left that ended while it replaced or removed a directory.
    func recover() throws {
        for name in try Directory.names(in: configuration) {
            if name.hasSuffix(".previous") {
                try Directory.recover("\(configuration)/\(name.dropLast(".previous".count))")
            } else if name.hasSuffix(Self.leavingSuffix) {
                try Directory.removeFlat("\(configuration)/\(name)")
            }
        }
    }

    /// Issues the certificates of one machine: a new machine id, and one certificate a team.
    func issue(
        _ authority: AccountAuthority,
        request: [UInt8],
        teams: [String],
        now: Int64
    ) throws -> (machineID: String, ders: [[UInt8]]) {
        let machineID = UUID().uuidString.lowercased()
        let ders = teams.compactMap { team in
            authority.issue(request: request, team: team, machineID: machineID, now: now)
        }
        guard ders.count == teams.count else {
            throw EnrolmentError(.protocolViolation, "the certificate request cannot be used: it needs a P-256 key")
        }
        return (machineID, ders)
    }

    /// Saves identities: the first where apps look for it, the others under their teams.
    func save(_ identities: [Identity]) throws {
        for (index, identity) in identities.enumerated() {
            let directory = index == 0 ? identityDirectory : identityDirectory(team: identity.teamID)
            try write(identity.files, to: directory, replaces: true)
        }
    }

    private static let keyExecutor = QueueExecutor(label: "handoff.scrypt")

    /// Makes the key of a code, on a thread of its own: it is work for 100 ms.
    func makeKey(code: InvitationCode, salt: [UInt8]) async throws -> PreSharedKey {
        try await Self.keyExecutor.run { [keyCost] in
            PreSharedKey(code: code.bytes, salt: salt, cost: keyCost)
        }
    }

    func write(_ files: [PrivateFile], to directory: String, replaces: Bool = false) throws(AccountError) {
        do {
            try Directory.write(directory, holding: files, replaces: replaces)
        } catch {
            throw AccountError(error)
        }
    }

    static func check(teams: [String]) throws(AccountError) {
        for team in teams where TeamID(team) == nil {
            throw AccountError(.invalidTeam, "“\(team)” is no team ID: that has 10 characters of A-Z and 0-9")
        }
        guard (1...maximumTeams).contains(teams.count), Set(teams).count == teams.count else {
            throw AccountError(.invalidTeam, "name 1 to \(maximumTeams) teams, none of them twice")
        }
    }
}

extension AccountError {
    static let noAccount = AccountError(
        .noAccount,
        "this machine is of no account: run handoff account create here, or handoff account invite on a machine that "
            + "is of one and handoff account join here"
    )
}

/// What can be told of an account; nothing in it is secret.
public struct AccountSummary: Hashable, Sendable {
    /// Its name for people.
    public let name: String
    /// SHA-256 of its public key in lower-case hexadecimal: what makes it this account.
    public let hash: String
    /// Whether this machine holds the key that signs, and so can invite.
    public let holdsKey: Bool
    /// This machine's identities, one a team; the first is that of apps which ask for no team.
    public let machines: [MachineSummary]
}

/// What can be told of a machine's identity for one team; nothing in it is secret.
public struct MachineSummary: Hashable, Sendable {
    /// The team ID.
    public let team: String
    /// The machine's id, a lower-case UUID.
    public let machineID: String
    /// The account's name for people.
    public let accountName: String
    /// The certificate's serial number in lower-case hexadecimal.
    public let serial: String
    /// When the certificate's time begins.
    public let notBefore: Date
    /// When it is over.
    public let notAfter: Date
    /// What two people compare: 16 hexadecimal digits in groups of four.
    public let fingerprint: String
    /// Where its files are.
    public let directory: String

    /// What to do about a certificate that ends soon.
    public static let renewalAdvice =
        "let an app run here and one on the machine with the account's key (notes run), on one network: it is renewed then; "
        + "or enrol this machine again: handoff account join"

    /// Whether the certificate ends so soon that it ought to have been renewed.
    public func isEnding(at now: Date) -> Bool {
        Renewal.isDue(end: Int64(notAfter.timeIntervalSince1970), now: Int64(now.timeIntervalSince1970))
    }

    init(_ identity: Identity, directory: String) {
        team = identity.teamID
        machineID = identity.machineID
        accountName = identity.accountName
        serial = identity.serial
        notBefore = Date(timeIntervalSince1970: TimeInterval(identity.notBefore))
        notAfter = Date(timeIntervalSince1970: TimeInterval(identity.notAfter))
        fingerprint = Self.text(ofFingerprint: identity.fingerprint)
        self.directory = directory
    }

    static func text(ofFingerprint bytes: [UInt8]) -> String {
        stride(from: 0, to: bytes.count, by: 2)
            .map { BaseEncoding.hexadecimal(bytes[$0..<min($0 + 2, bytes.count)]) }
            .joined(separator: " ")
    }
}
