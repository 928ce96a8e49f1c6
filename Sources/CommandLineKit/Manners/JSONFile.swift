import FoundationEssentials
import Glibc

/// One value in one JSON file: all that a small program has to keep.
///
/// The file is the user's alone (0600, in a directory of 0700), and is there as a whole or not at all: a change is
/// written to another file, which reaches the disk before it takes the place of the old one.
public struct JSONFile<Value: Codable & Sendable>: Sendable {
    let directory: String
    private let path: String

    /// Names a file, which need not be there yet.
    ///
    /// - Parameters:
    ///   - name: The file's name.
    ///   - directory: Its directory, made at the first change where it is missing.
    public init(_ name: String, in directory: String) {
        self.directory = directory
        path = "\(directory)/\(name)"
    }

    /// Reads the value.
    ///
    /// - Returns: Nil where there is no file yet.
    /// - Throws: ``CommandFailure`` where it cannot be read, or holds something else.
    public func read() throws -> Value? {
        guard access(path, F_OK) == 0 || errno != ENOENT else { return nil }
        do {
            return try JSONDecoder().decode(Value.self, from: Data(contentsOf: URL(filePath: path)))
        } catch is DecodingError {
            throw CommandFailure("\(printable(path)) is damaged: repair it, or move it away to begin anew")
        } catch {
            throw CommandFailure("cannot read \(printable(path)): \(error)")
        }
    }

    /// Changes the value, alone among all processes that change it by this function.
    ///
    /// - Parameters:
    ///   - initial: The value where there is no file yet.
    ///   - change: Changes it; what it throws leaves the file as it is.
    /// - Returns: What `change` returns.
    /// - Throws: ``CommandFailure`` where the file cannot be read or written; what `change` throws.
    @discardableResult
    public func update<Result>(from initial: Value, _ change: (inout Value) throws -> Result) throws -> Result {
        try HandoffPaths.makeDirectory(directory)
        let lock = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard lock >= 0 else { throw failure("open", directory) }
        defer { close(lock) }
        while flock(lock, LOCK_EX) != 0 {
            guard errno == EINTR else { throw failure("lock", directory) }
        }
        var value = try read() ?? initial
        let result = try change(&value)
        try write(StandardOutput.jsonLine(value))
        // The new name, too, has to reach the disk.
        guard fsync(lock) == 0 else { throw failure("save", directory) }
        return result
    }

    /// Replaces the file; the lock makes sure that nobody else writes beside it.
    private func write(_ bytes: Data) throws {
        let temporary = path + ".new"
        // What a killed process left may have any mode.
        unlink(temporary)
        let descriptor = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw failure("write", temporary) }
        defer { close(descriptor) }
        do {
            try StandardOutput.write(Array(bytes), to: descriptor)
            guard fsync(descriptor) == 0, rename(temporary, path) == 0 else { throw failure("write", path) }
        } catch {
            unlink(temporary)
            throw error
        }
    }

    func failure(_ deed: String, _ path: String) -> CommandFailure {
        let reason = String(cString: strerror(errno))
        return CommandFailure("cannot \(deed) \(printable(path)): \(reason)")
    }
}
