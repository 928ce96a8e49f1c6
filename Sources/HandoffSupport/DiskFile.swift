import Glibc

/// A file that is open, read and written at positions that each call names.
///
/// All calls block for as long as the file system does: they belong on a queue of their own (``QueueExecutor``).
/// Positions and sizes are 64 bits wide, and sparse parts read as zeros.
public struct DiskFile: ~Copyable, Sendable {
    /// What a file is opened for.
    public enum Access: Sendable {
        /// Reading; symbolic links are followed, as for a path that the user named.
        case reading
        /// Reading a file of one's own, where a symbolic link is an error (`ELOOP`).
        case readingOwn
        /// Reading and writing a file of one's own, which is made (0600) where it is missing; a symbolic link is an
        /// error (`ELOOP`).
        case writingOwn

        fileprivate var flags: CInt {
            switch self {
            case .reading: O_RDONLY
            case .readingOwn: O_RDONLY | O_NOFOLLOW
            case .writingOwn: O_RDWR | O_CREAT | O_NOFOLLOW
            }
        }
    }

    /// The path that it was opened by, for messages.
    public let path: String
    private let descriptor: FileDescriptor

    /// Opens a file, without waiting for the other end of a pipe.
    ///
    /// - Throws: `SystemError`.
    public init(_ path: String, for access: Access) throws(SystemError) {
        let number = Glibc.open(path, access.flags | O_CLOEXEC | O_NONBLOCK, 0o600)
        guard number >= 0 else {
            let code = errno
            throw SystemError("open \(path)", code: code)
        }
        descriptor = FileDescriptor(owning: number)
        self.path = path
    }

    /// What the kernel knows of the file now.
    ///
    /// - Throws: `SystemError`.
    public func status() throws(SystemError) -> FileStatus {
        var status = stat()
        guard fstat(descriptor.number, &status) == 0 else { throw failure("look at") }
        return FileStatus(status)
    }

    /// Fills a buffer from a position on.
    ///
    /// - Returns: How many bytes were read, fewer than the buffer has only at the end of the file.
    /// - Throws: `SystemError`.
    public func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws(SystemError) -> Int {
        var count = 0
        while count < buffer.count {
            let rest = UnsafeMutableRawBufferPointer(rebasing: buffer[count...])
            let result = pread(descriptor.number, rest.baseAddress, rest.count, off_t(offset) + count)
            if result == 0 { break }
            if result > 0 {
                count += result
            } else if errno != EINTR {
                throw failure("read")
            }
        }
        return count
    }

    /// Writes all bytes from a position on.
    ///
    /// - Throws: `SystemError`; a part may have been written then.
    public func write(_ bytes: UnsafeRawBufferPointer, at offset: Int64) throws(SystemError) {
        var count = 0
        while count < bytes.count {
            let rest = UnsafeRawBufferPointer(rebasing: bytes[count...])
            let result = pwrite(descriptor.number, rest.baseAddress, rest.count, off_t(offset) + count)
            if result >= 0 {
                count += result
            } else if errno != EINTR {
                throw failure("write")
            }
        }
    }

    /// Cuts the file.
    ///
    /// - Throws: `SystemError`.
    public func truncate(to size: Int64) throws(SystemError) {
        guard ftruncate(descriptor.number, off_t(size)) == 0 else { throw failure("cut") }
    }

    /// Closes the file to other users, whatever mode it had.
    ///
    /// - Throws: `SystemError`: `EPERM` where it is another user's.
    public func makePrivate() throws(SystemError) {
        guard fchmod(descriptor.number, 0o600) == 0 else { throw failure("protect") }
    }

    /// Takes the lock that only one opening of the file has at a time, in this process or another.
    ///
    /// It is let go when the file is closed, by the end of the process too, however that comes.
    ///
    /// - Returns: False where it is taken.
    /// - Throws: `SystemError`.
    public func lock() throws(SystemError) -> Bool {
        guard flock(descriptor.number, LOCK_EX | LOCK_NB) == 0 else {
            let code = errno
            guard code == EWOULDBLOCK else { throw SystemError("lock \(path)", code: code) }
            return false
        }
        return true
    }

    /// Lets the kernel know that a file will be read from its beginning to its end.
    public func expectSequentialReading() {
        posix_fadvise(descriptor.number, 0, 0, POSIX_FADV_SEQUENTIAL)
    }

    /// Has the kernel begin to write a part to the disk, and give back the memory for what of it is there already.
    ///
    /// ``synchronize()`` then finds less to do, and a large file does not push all others out of memory.
    public func letGo(of range: Range<Int64>) {
        // POSIX_FADV_DONTNEED does both (Linux, mm/fadvise.c): of a page that is to be written, it begins the writing.
        posix_fadvise(descriptor.number, off_t(range.lowerBound), off_t(range.count), POSIX_FADV_DONTNEED)
    }

    /// Returns when all that was written is on the disk.
    ///
    /// - Throws: `SystemError`; what is on the disk is not known then.
    public func synchronize() throws(SystemError) {
        guard fsync(descriptor.number) == 0 else { throw failure("write") }
    }

    private func failure(_ verb: String) -> SystemError {
        let code = errno
        return SystemError("\(verb) \(path)", code: code)
    }
}

extension FileStatus {
    fileprivate init(_ status: stat) {
        self.init(
            device: UInt64(status.st_dev),
            inode: UInt64(status.st_ino),
            size: Int64(status.st_size),
            modified: Duration(status.st_mtim),
            changed: Duration(status.st_ctim),
            links: Int(clamping: status.st_nlink),
            isRegular: status.st_mode & S_IFMT == S_IFREG,
            isOwn: status.st_uid == geteuid()
        )
    }

    /// What the kernel knows of what a path names, the link itself where it is a symbolic one; nil where there is
    /// nothing.
    ///
    /// - Throws: `SystemError`.
    public static func of(_ path: String) throws(SystemError) -> FileStatus? {
        var status = stat()
        guard lstat(path, &status) == 0 else {
            let code = errno
            guard code == ENOENT else { throw SystemError("look at \(path)", code: code) }
            return nil
        }
        return FileStatus(status)
    }
}

extension Duration {
    fileprivate init(_ time: timespec) {
        self = .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
    }
}
