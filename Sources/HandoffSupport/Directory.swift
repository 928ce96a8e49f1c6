import Glibc

/// What is done to the names in a directory; each call blocks for as long as the file system does.
public enum Directory {
    /// The directory that a path's last name is in.
    public static func containing(_ path: String) -> String {
        guard let slash = path.lastIndex(of: "/") else { return "." }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }

    /// Gives a file another name in one step, in place of what has that name.
    ///
    /// - Throws: `SystemError`.
    public static func rename(_ path: String, to newPath: String) throws(SystemError) {
        guard Glibc.rename(path, newPath) == 0 else { throw failure(errno, "rename \(path) to \(newPath)") }
    }

    /// Gives a file another name beside the one it has, in one step.
    ///
    /// - Throws: `SystemError`: `EEXIST` where something has that name; `EPERM` or `EOPNOTSUPP` where the file system
    ///   knows one name for a file only.
    public static func link(_ path: String, as newPath: String) throws(SystemError) {
        guard Glibc.link(path, newPath) == 0 else { throw failure(errno, "make \(newPath)") }
    }

    /// Removes a name; that it is gone already is no failure.
    ///
    /// - Throws: `SystemError`.
    public static func remove(_ path: String) throws(SystemError) {
        guard unlink(path) == 0 || errno == ENOENT else { throw failure(errno, "remove \(path)") }
    }

    /// Returns when the names in a directory are on the disk.
    ///
    /// - Throws: `SystemError`.
    public static func synchronize(_ path: String) throws(SystemError) {
        let number = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard number >= 0 else { throw failure(errno, "open \(path)") }
        let directory = FileDescriptor(owning: number)
        guard fsync(directory.number) == 0 else { throw failure(errno, "write \(path)") }
    }

    /// How many bytes a user may still write in a directory's file system.
    ///
    /// - Throws: `SystemError`.
    public static func availableBytes(in path: String) throws(SystemError) -> Int64 {
        var status = statvfs()
        guard statvfs(path, &status) == 0 else { throw failure(errno, "look at the disk of \(path)") }
        let (bytes, isOver) = Int64(clamping: status.f_bavail).multipliedReportingOverflow(
            by: Int64(clamping: status.f_frsize)
        )
        return isOver ? .max : bytes
    }

    /// The number is the first argument, so that nothing is called before it is read.
    private static func failure(_ code: CInt, _ action: String) -> SystemError {
        SystemError(action, code: code)
    }
}

extension SystemError {
    /// Whether the disk, or the user's share of it, is full.
    public var isDiskFull: Bool { code == ENOSPC || code == EDQUOT }
    /// Records that something has the name already.
    public static func taken(_ path: String) -> SystemError { SystemError("make \(path)", code: EEXIST) }
    /// Whether something has the name already.
    public var isTaken: Bool { code == EEXIST }
    /// Whether the file system does not know how to do it.
    public var isUnsupported: Bool { code == EPERM || code == EOPNOTSUPP || code == ENOSYS || code == EMLINK }
}
