public import HandoffSupport

/// What has come of a file, beside its target: locked, private, and under a name that is made from the digest, so that
/// the next try finds it.
final class PartialFile: Sendable {
    let path: String
    let file: DiskFile

    /// Opens the partial file of an earlier try, or makes one.
    init(for digest: ContentDigest, target: String) throws(TransferError) {
        path = IncomingFile.partialPath(for: digest, target: target)
        file = try Self.open(path)
    }

    private static func open(_ path: String) throws(TransferError) -> DiskFile {
        // Between opening and locking, another process may finish its transfer and the name may come to be another
        // file's; each turn needs a transfer that ends just then.
        for _ in 0..<100 {
            let file = try usable { () throws(SystemError) in try DiskFile(path, for: .writingOwn) }
            let isLocked = try usable { () throws(SystemError) in try file.lock() }
            guard isLocked else {
                throw TransferError(
                    .busy,
                    "\(path) is being written by another transfer of the same content: wait until it has ended"
                )
            }
            let (status, named) = try usable { () throws(SystemError) in (try file.status(), try FileStatus.of(path)) }
            guard status.isRegular, status.isOwn else {
                throw TransferError(.targetUnusable, "\(path) is not a file of this user: remove it")
            }
            guard let named, named.isSameFile(as: status) else { continue }
            // A second name is that of a finished file, whose transfer was killed before it removed this one.
            if status.links > 1 {
                try usable { () throws(SystemError) in try Directory.remove(path) }
                continue
            }
            try usable { () throws(SystemError) in try file.makePrivate() }
            return file
        }
        throw TransferError(.busy, "\(path) is made and removed all the time: wait until other transfers have ended")
    }

    private static func usable<Result: ~Copyable>(
        _ body: () throws(SystemError) -> Result
    ) throws(TransferError) -> Result {
        do throws(SystemError) {
            return try body()
        } catch {
            guard !error.isDiskFull else {
                throw TransferError(.diskFull, "cannot \(error): free some space", cause: error)
            }
            throw TransferError(.targetUnusable, "cannot \(error): check the directory", cause: error)
        }
    }

    /// Removes the file where nothing has come; otherwise it stays for the next try.
    func leave() {
        // The name is this file's for as long as it is locked.
        if (try? file.status().size) == 0 { try? Directory.remove(path) }
    }

    /// Makes the file its target, in one step and for good.
    ///
    /// - Throws: `SystemError`; `isTaken` where the target exists and is not to be replaced.
    func publish(as target: String, replacing: Bool) throws(SystemError) {
        try file.synchronize()
        try name(target, replacing)
        try Directory.synchronize(Directory.containing(target))
    }

    private func name(_ target: String, _ replacing: Bool) throws(SystemError) {
        guard !replacing else { return try Directory.rename(path, to: target) }
        do throws(SystemError) {
            // Unlike a rename, a link never replaces anything.
            try Directory.link(path, as: target)
        } catch {
            guard error.isUnsupported else { throw error }
            // A file system with one name for each file (FAT): what comes between these two calls would be replaced.
            guard try FileStatus.of(target) == nil else { throw .taken(target) }
            return try Directory.rename(path, to: target)
        }
        try Directory.remove(path)
    }
}

extension IncomingFile {
    /// Where the content is while it comes: beside the target, under a hidden name that is made from the digest alone.
    public static func partialPath(for digest: ContentDigest, target: String) -> String {
        "\(Directory.containing(target))/\(prefix)\(digest)\(suffix)"
    }

    /// Reads the digest out of a path that ``partialPath(for:target:)`` gave; nil for any other.
    public static func digest(ofPartial path: String) -> ContentDigest? {
        let name = path.split(separator: "/").last ?? ""
        guard name.hasPrefix(prefix), name.hasSuffix(suffix) else { return nil }
        return ContentDigest(String(name.dropFirst(prefix.count).dropLast(suffix.count)))
    }

    private static let prefix = "."
    private static let suffix = ".partial"
}
