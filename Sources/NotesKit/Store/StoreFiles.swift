import Glibc
import Handoff

/// Makes the store's directories and files, closed to everyone else.
enum StoreFiles {
    /// Makes a directory (0700) and those above it where they are missing.
    static func makeDirectory(at path: String) throws(NotesStoreError) {
        var status = stat()
        if stat(path, &status) == 0 {
            guard status.st_mode & S_IFMT == S_IFDIR else {
                throw NotesStoreError(.directoryUnusable, "\(path) is not a directory: move it away")
            }
            return
        }
        if let slash = path.lastIndex(of: "/"), slash != path.startIndex {
            try makeDirectory(at: String(path[..<slash]))
        }
        guard mkdir(path, 0o700) == 0 || errno == EEXIST else {
            let code = errno
            throw NotesStoreError(
                .directoryUnusable,
                "\(SystemError("cannot make the directory \(path)", code: code)): check the directory above it"
            )
        }
    }

    /// Makes the database's file (0600) where it is missing, so that SQLite doesn't make it with a wider mode.
    ///
    /// A file that is there is not even opened: closing it would drop the locks that this process has on it (POSIX).
    static func makeDatabaseFile(at path: String) throws(NotesStoreError) {
        let number = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard number >= 0 else {
            let code = errno
            if code == EEXIST { return }
            let error = SystemError("cannot make \(path)", code: code)
            switch code {
            case EROFS, EACCES: throw .readOnly(path, SystemError.message(for: code))
            case ENOSPC, EDQUOT: throw NotesStoreError(.diskFull, "\(error): free some space")
            default: throw NotesStoreError(.cannotOpen, "\(error): check its directory")
            }
        }
        close(number)
    }
}

extension StoreFiles {
    /// Makes a new file (0600) whose bytes are on the disk when this returns; on failure there is none.
    static func makeFile(at path: String, bytes: [UInt8]) throws(NotesStoreError) {
        let number = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard number >= 0 else { throw .draftUnusable("make", path, code: errno) }
        let file = FileDescriptor(owning: number)
        var written = 0
        while written < bytes.count {
            let count = bytes[written...].withUnsafeBytes { write(file.number, $0.baseAddress, $0.count) }
            if count >= 0 {
                written += count
                continue
            }
            let code = errno
            if code == EINTR { continue }
            unlink(path)
            throw .draftUnusable("write", path, code: code)
        }
        guard fsync(file.number) == 0 else {
            let code = errno
            unlink(path)
            throw .draftUnusable("write", path, code: code)
        }
    }

    /// Reads a file to its end, or to a limit.
    static func read(_ path: String, atMost limit: Int) throws(NotesStoreError) -> [UInt8] {
        // Not blocking: an editor may have left anything under the name, a pipe too.
        let number = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        guard number >= 0 else { throw .draftUnusable("read", path, code: errno) }
        let file = FileDescriptor(owning: number)
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        while bytes.count < limit {
            let room = min(buffer.count, limit - bytes.count)
            let count = buffer.withUnsafeMutableBytes { Glibc.read(file.number, $0.baseAddress, room) }
            let code = errno
            if count == 0 { break }
            if count > 0 {
                bytes.append(contentsOf: buffer[..<count])
            } else if code != EINTR {
                throw .draftUnusable("read", path, code: code)
            }
        }
        return bytes
    }
}

extension NotesStoreError {
    fileprivate static func draftUnusable(_ verb: String, _ path: String, code: CInt) -> NotesStoreError {
        let error = SystemError("cannot \(verb) \(path)", code: code)
        return code == ENOSPC || code == EDQUOT
            ? NotesStoreError(.diskFull, "\(error): free some space")
            : NotesStoreError(.draftUnusable, "\(error): check the file and its directory")
    }
}
