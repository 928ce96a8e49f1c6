import Glibc

/// A Unix-domain stream socket of this user's, which carries lines.
///
/// Reading and writing may go on at once, but only one task may read and one may write.
public final class LocalSocket: Sendable {
    /// The longest line in bytes.
    public static let maximumLine = 1 << 20

    private let descriptor: FileDescriptor
    private let buffer = LockedBox<[UInt8]>([])

    private init(owning number: CInt) {
        descriptor = FileDescriptor(owning: number)
    }

    /// Connects to a listening socket.
    ///
    /// - Parameter path: Where it is; at most 107 bytes.
    /// - Throws: `SystemError`: `ENOENT` or `ECONNREFUSED` where nobody listens, `EACCES` where another user does.
    public static func connect(to path: String) throws(SystemError) -> LocalSocket {
        let socket = try make()
        let result = try withAddress(path) { Glibc.connect(socket.descriptor.number, $0, $1) }
        guard result == 0 else { throw SystemError("connect to \(path)", code: errno) }
        try socket.checkOwner(path)
        return socket
    }

    /// Binds a path that only this user may connect to, and listens; a socket file that is there is replaced.
    ///
    /// The caller makes sure that nobody else listens there, by a lock.
    ///
    /// - Throws: `SystemError`.
    public static func listen(at path: String) throws(SystemError) -> LocalSocket {
        let socket = try make()
        guard unlink(path) == 0 || errno == ENOENT else { throw SystemError("remove \(path)", code: errno) }
        // The mode of the file is that of the descriptor at the time of bind, without a moment of more rights.
        guard fchmod(socket.descriptor.number, 0o600) == 0 else { throw SystemError("protect \(path)", code: errno) }
        let result = try withAddress(path) { bind(socket.descriptor.number, $0, $1) }
        guard result == 0 else { throw SystemError("bind \(path)", code: errno) }
        guard Glibc.chmod(path, 0o600) == 0 else { throw SystemError("protect \(path)", code: errno) }
        guard Glibc.listen(socket.descriptor.number, 16) == 0 else {
            throw SystemError("listen at \(path)", code: errno)
        }
        return socket
    }

    private static let exhaustionPause = Duration.milliseconds(200)

    /// Waits for the next connection to a listening socket; those of other users are turned away.
    ///
    /// While the system has no descriptor or memory for it, a connection waits in the queue.
    ///
    /// - Throws: `SystemError`, or `CancellationError` when the task is cancelled.
    public func accept() async throws -> LocalSocket {
        while true {
            try await Readiness.readable.wait(for: descriptor.number, of: self)
            let number = Glibc.accept(descriptor.number, nil, nil)
            if number < 0 {
                let code = errno
                switch code {
                case EAGAIN, EINTR, ECONNABORTED: continue
                case EMFILE, ENFILE, ENOBUFS, ENOMEM:
                    try await MonotonicClock.system.sleep(for: Self.exhaustionPause)
                    continue
                default: throw SystemError("accept a connection", code: code)
                }
            }
            _ = fcntl(number, F_SETFD, FD_CLOEXEC)
            _ = fcntl(number, F_SETFL, O_NONBLOCK)
            let socket = LocalSocket(owning: number)
            if (try? socket.checkOwner("the connection")) != nil { return socket }
        }
    }

    /// Reads a line, without its newline.
    ///
    /// - Returns: Nil at the end; an unfinished last line is dropped.
    /// - Throws: `SystemError`: `EMSGSIZE` for a line over ``maximumLine``; `CancellationError`.
    public func readLine() async throws -> [UInt8]? {
        while true {
            if let line = takeLine() { return line }
            guard buffer.withLock({ $0.count }) < Self.maximumLine else {
                throw SystemError("read a line", code: EMSGSIZE)
            }
            var chunk = [UInt8](repeating: 0, count: 16 * 1024)
            let count = recv(descriptor.number, &chunk, chunk.count, 0)
            let code = errno
            if count == 0 { return nil }
            if count > 0 {
                buffer.withLock { $0 += chunk[..<count] }
            } else if code == EAGAIN {
                try await Readiness.readable.wait(for: descriptor.number, of: self)
            } else if code != EINTR {
                throw SystemError("read", code: code)
            }
        }
    }

    /// Writes a line and its newline.
    ///
    /// - Throws: `SystemError`: `EPIPE` where the other end is gone; `CancellationError`.
    public func writeLine(_ line: [UInt8]) async throws {
        let bytes = line + [UInt8(ascii: "\n")]
        var sent = 0
        while sent < bytes.count {
            let count = bytes.withUnsafeBytes { all in
                send(descriptor.number, all.baseAddress.map { $0 + sent }, all.count - sent, CInt(MSG_NOSIGNAL))
            }
            let code = errno
            if count >= 0 {
                sent += count
            } else if code == EAGAIN {
                try await Readiness.writable.wait(for: descriptor.number, of: self)
            } else if code != EINTR {
                throw SystemError("write", code: code)
            }
        }
    }

    private func takeLine() -> [UInt8]? {
        buffer.withLock { buffer in
            guard let end = buffer.firstIndex(of: UInt8(ascii: "\n")) else { return nil }
            defer { buffer.removeFirst(end + 1) }
            return Array(buffer[..<end])
        }
    }

    /// Asks the kernel who is at the other end (SO_PEERCRED, unix(7)).
    private func checkOwner(_ place: String) throws(SystemError) {
        // struct ucred, which Glibc's module hides behind _GNU_SOURCE: pid, uid, gid.
        var credentials: (pid: pid_t, uid: uid_t, gid: gid_t) = (0, 0, 0)
        var length = socklen_t(MemoryLayout.size(ofValue: credentials))
        guard getsockopt(descriptor.number, SOL_SOCKET, SO_PEERCRED, &credentials, &length) == 0 else {
            throw SystemError("ask who is at \(place)", code: errno)
        }
        guard credentials.uid == geteuid() else { throw SystemError("use \(place)", code: EACCES) }
    }

    private static func make() throws(SystemError) -> LocalSocket {
        let flags = CInt(SOCK_STREAM.rawValue) | CInt(SOCK_NONBLOCK.rawValue) | CInt(SOCK_CLOEXEC.rawValue)
        let number = socket(AF_UNIX, flags, 0)
        guard number >= 0 else { throw SystemError("make a socket", code: errno) }
        return LocalSocket(owning: number)
    }

    private static func withAddress(
        _ path: String,
        _ call: (UnsafePointer<sockaddr>, socklen_t) -> CInt
    ) throws(SystemError) -> CInt {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let bytes = Array(path.utf8)
        let isShortEnough = withUnsafeMutableBytes(of: &address.sun_path) { place in
            guard bytes.count < place.count else { return false }
            place.copyBytes(from: bytes)
            return true
        }
        guard isShortEnough else { throw SystemError("use the socket \(path)", code: ENAMETOOLONG) }
        return withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                call($0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
    }
}

extension SystemError {
    /// Whether a socket is there and nobody listens.
    public var isConnectionRefused: Bool { code == ECONNREFUSED }
}
