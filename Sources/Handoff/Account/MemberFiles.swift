import FoundationEssentials
import HandoffModel
import HandoffSupport
import HandoffTransport

/// What this machine keeps of what it has learnt of its account, in files that all its programs share.
///
/// They stand in the directory `members` beside the identities: `statements`, what the account has said and signed, and
/// `machines`, whom this machine has met. Each call reads or writes files, and so blocks.
struct MemberFiles: Sendable {
    /// The largest file that is read, in bytes: 1,000 revocations have 120 KB.
    private static let largestFile = 1 << 20
    /// The name of the directory.
    static let directoryName = "members"

    private enum Name {
        static let statements = "statements"
        static let machines = "machines"
    }

    /// The directory that all others are in.
    let configuration: String
    /// The account; what the files tell of another one counts for nothing.
    let accountHash: [UInt8]

    /// Where the files are.
    var directory: String { "\(configuration)/\(Self.directoryName)" }

    /// Makes the directory where it is missing.
    func makeDirectory() throws { try Directory.makePrivate(directory) }

    /// What the account has said; the signatures are not checked.
    ///
    /// - Throws: ``AccountError/Code/damaged``, ``IdentityError``, `SystemError`: who was revoked is not known then.
    func statements() throws -> AccountStatements {
        guard let bytes = try read(Name.statements) else { return AccountStatements() }
        guard let statements = AccountStatements(encoded: bytes, accountHash: accountHash) else {
            throw damaged(Name.statements)
        }
        return statements
    }

    /// Adds what was found to be signed by the account, and makes the current discovery key that of all identities.
    ///
    /// - Parameter now: The time, in seconds since 1970.
    func add(_ new: AccountStatements, now: Int64) throws {
        try makeDirectory()
        try Directory.whileLocked(directory) {
            let before = try statements()
            var after = before
            after.formUnion(new)
            after.removeExpired(at: now)
            if after != before {
                let bytes = try after.encoded(accountHash: accountHash)
                try Directory.replace(PrivateFile(name: Name.statements, isSecret: true, bytes: bytes), in: directory)
            }
            try spreadDiscoveryKey(after)
        }
    }

    /// Other programs, and invitations, read the key where it has always been.
    private func spreadDiscoveryKey(_ statements: AccountStatements) throws {
        for name in try Directory.names(in: configuration).filter(Self.holdsDiscoveryKey) {
            let path = "\(configuration)/\(name)"
            guard let directory = try? IdentityDirectory(path: path), let own = try? directory.readDiscoveryKey(),
                let account = try? directory.readAccountHash(), account == accountHash,
                let current = statements.discoveryKeys(own: own).first, current != own
            else { continue }
            try Directory.replace(AccountAuthority.file(ofDiscoveryKey: current), in: path)
        }
    }

    private static func holdsDiscoveryKey(_ name: String) -> Bool {
        name == "account" || name == "identity" || name.hasPrefix("identity-")
    }

    // MARK: - Machines

    /// The machines that were met; what cannot be read is forgotten, since it decides nothing.
    func machines() -> KnownMachines {
        guard let bytes = try? read(Name.machines) else { return KnownMachines() }
        return KnownMachines(encoded: bytes, accountHash: accountHash) ?? KnownMachines()
    }

    /// Remembers a machine that was just met.
    func note(_ machine: KnownMachine) throws {
        try makeDirectory()
        try Directory.whileLocked(directory) {
            var machines = machines()
            guard machines.note(machine) else { return }
            let bytes = try machines.encoded(accountHash: accountHash)
            try Directory.replace(PrivateFile(name: Name.machines, isSecret: true, bytes: bytes), in: directory)
        }
    }

    // MARK: - Renewal

    /// Puts a renewed certificate in the place of the old one, in one step; the key stays.
    ///
    /// - Parameter path: The identity's directory.
    /// - Returns: The identity that is there now: another program's, where that was faster.
    func save(_ renewed: Identity, in path: String) throws -> Identity {
        try makeDirectory()
        return try Directory.whileLocked(directory) {
            let present = try Identity(unverifiedIn: path)
            // Another machine's, where this one was enrolled again meanwhile.
            guard present.machineID == renewed.machineID, present.notAfter < renewed.notAfter else { return present }
            try Directory.replace(renewed.certificateFile, in: path)
            return renewed
        }
    }

    // MARK: - Inside

    private func read(_ name: String) throws -> [UInt8]? {
        guard try FileStatus.of("\(directory)/\(name)") != nil else { return nil }
        return try IdentityDirectory(path: directory).read(name, isSecret: true, atMost: Self.largestFile)
    }

    private func damaged(_ name: String) -> AccountError {
        AccountError(
            .damaged,
            "\(directory)/\(name) is damaged; remove it: what it held is told by the account's other machines again"
        )
    }
}
