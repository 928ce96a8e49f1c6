import Glibc

extension Directory {
    /// Writes a file, which is there as a whole or not at all, in place of one of that name where there is one.
    ///
    /// Two at once would use the same name meanwhile: ``whileLocked(_:_:)`` keeps them apart.
    ///
    /// - Throws: `SystemError`; the old file is there then.
    public static func replace(_ file: PrivateFile, in directory: String) throws(SystemError) {
        let staging = PrivateFile(name: file.name + ".new", isSecret: file.isSecret, bytes: file.bytes)
        // What a killed process has left.
        try remove("\(directory)/\(staging.name)")
        try write(staging, in: directory)
        try rename("\(directory)/\(staging.name)", to: "\(directory)/\(file.name)")
        try synchronize(directory)
    }

    /// Does something alone among all that lock the same directory; waits for the others.
    ///
    /// - Parameters:
    ///   - path: The directory.
    ///   - body: What to do; it must be short, and must not lock the same again.
    /// - Returns: What `body` returns.
    /// - Throws: `SystemError`; what `body` throws.
    public static func whileLocked<Result>(_ path: String, _ body: () throws -> Result) throws -> Result {
        let number = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard number >= 0 else {
            let code = errno
            throw SystemError("open \(path)", code: code)
        }
        defer { close(number) }
        while flock(number, LOCK_EX) != 0 {
            let code = errno
            guard code == EINTR else { throw SystemError("lock \(path)", code: code) }
        }
        return try body()
    }
}
