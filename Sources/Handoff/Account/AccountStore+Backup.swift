import HandoffSupport
import HandoffTransport

extension AccountStore {
    /// The shortest passphrase of a backup, in bytes.
    public static let minimumPassphrase = 8
    /// The largest file that is read as a backup, in bytes.
    private static let largestBackup: Int64 = 64 * 1024

    /// Writes the account's keys into a file (0600) that is not there yet, under a passphrase.
    ///
    /// - Throws: ``AccountError``; ``IdentityError`` where the account cannot be used.
    public func backup(to path: String, passphrase: String) throws {
        guard passphrase.utf8.count >= Self.minimumPassphrase else {
            throw AccountError(
                .wrongPassphrase,
                "choose a longer passphrase: it has \(Self.minimumPassphrase) bytes at least"
            )
        }
        guard try FileStatus.of(accountDirectory) != nil else {
            throw AccountError(.noKey, "this machine does not hold the account's key: there is nothing to back up")
        }
        let authority = try currentAuthority()
        let name = path.split(separator: "/").last.map { String($0) } ?? path
        let directory = Directory.containing(path)
        do {
            try Directory.write(
                PrivateFile(name: name, isSecret: true, bytes: authority.backup(passphrase: Array(passphrase.utf8))),
                in: directory
            )
            try Directory.synchronize(directory)
        } catch {
            throw AccountError(error)
        }
    }

    /// Puts an account's keys back, onto this machine or another one; identities are left as they are.
    ///
    /// - Returns: The account, without an identity where this machine had none: then ``create(name:teams:now:)`` makes it.
    /// - Throws: ``AccountError/Code/wrongPassphrase``, ``AccountError/Code/exists`` and others; ``IdentityError`` where
    ///   the file is no backup.
    public func restore(from path: String, passphrase: String) throws -> AccountSummary {
        try recover()
        guard try FileStatus.of(accountDirectory) == nil else {
            throw AccountError(
                .exists,
                "this machine holds the key of an account; to give that up first: handoff account leave"
            )
        }
        let bytes: [UInt8]
        do {
            let file = try DiskFile(path, for: .reading)
            guard try file.status().size <= Self.largestBackup else {
                throw AccountError(.damaged, "\(path) is too large for a backup of an account")
            }
            bytes = try [UInt8](unsafeUninitializedCapacity: Int(Self.largestBackup)) { buffer, count in
                count = try file.read(into: UnsafeMutableRawBufferPointer(buffer), at: 0)
            }
        } catch let error as SystemError {
            throw AccountError(error)
        }
        guard let authority = try AccountAuthority(backup: bytes, passphrase: Array(passphrase.utf8)) else {
            throw AccountError(.wrongPassphrase, "the passphrase is not that of this backup")
        }
        if let directory = try identityDirectories().first,
            let identity = try? Identity(unverifiedIn: directory), identity.accountHash != authority.accountHash
        {
            throw AccountError(
                .exists,
                "this machine is of another account, “\(identity.accountName)”; to leave it first: handoff account leave"
            )
        }
        try write(authority.files, to: accountDirectory)
        return try summary()
    }

    /// Removes this machine's identities, and the account's key where it is here.
    ///
    /// Other machines trust what was removed until its time is over, or it is revoked.
    ///
    /// - Parameter givesUpKey: Whether the account's key may be removed too; without a backup it is gone.
    /// - Returns: What was here.
    /// - Throws: ``AccountError``: `noKey` where the key is here and is not to be given up.
    @discardableResult
    public func leave(givesUpKey: Bool) throws -> [MachineSummary] {
        try recover()
        let holdsKey = try FileStatus.of(accountDirectory) != nil
        let directories = try identityDirectories()
        guard holdsKey || !directories.isEmpty else { throw AccountError.noAccount }
        guard !holdsKey || givesUpKey else {
            throw AccountError(
                .noKey,
                "the account's key is on this machine, and without it no machine can ever be added: make a backup (handoff "
                    + "account backup FILE), then run handoff account leave --give-up-key"
            )
        }
        let machines = directories.compactMap { directory in
            (try? Identity(unverifiedIn: directory)).map { MachineSummary($0, directory: directory) }
        }
        do {
            let members = "\(configuration)/\(MemberFiles.directoryName)"
            let hasMembers = try FileStatus.of(members) != nil
            for directory in directories + (hasMembers ? [members] : []) + (holdsKey ? [accountDirectory] : []) {
                // In one step out of the way of programs, then away.
                try Directory.rename(directory, to: directory + Self.leavingSuffix)
                try Directory.removeFlat(directory + Self.leavingSuffix)
            }
            try Directory.synchronize(configuration)
        } catch {
            throw AccountError(error)
        }
        return machines
    }
}
