import Glibc
import HandoffSupport

/// A non-blocking TCP socket, closed when the last of its holders lets go.
///
/// Event sources hold it until their cancel handlers have run, so that no source ever watches a number that the
/// kernel has given to somebody else.
final class Socket: Sendable {
    /// How long the kernel tries to deliver what was sent before it gives the connection up.
    static let deliveryTimeout = Duration.seconds(20)

    private let descriptor: FileDescriptor

    /// The descriptor's number, lent as long as the socket is held.
    var number: CInt { descriptor.number }

    /// Takes ownership of a non-blocking socket.
    init(takingOwnership descriptor: consuming FileDescriptor) {
        self.descriptor = descriptor
    }

    /// Makes a socket of a family.
    ///
    /// - Throws: `SystemError`.
    convenience init(family: CInt) throws(SystemError) {
        let number = socket(family, CInt(SOCK_STREAM.rawValue) | Self.flags, 0)
        guard number >= 0 else { throw SystemError("make a socket", code: errno) }
        self.init(takingOwnership: FileDescriptor(owning: number))
    }

    private static let flags = CInt(SOCK_NONBLOCK.rawValue) | CInt(SOCK_CLOEXEC.rawValue)

    /// Accepts a connection that waits at a listening socket.
    ///
    /// - Throws: `SystemError`; `EAGAIN` where none waits.
    func accept() throws(SystemError) -> Socket {
        let accepted = Glibc.accept(number, nil, nil)
        guard accepted >= 0 else { throw SystemError("accept a connection", code: errno) }
        // accept4 would do it in one call, but Swift does not see GNU extensions.
        _ = fcntl(accepted, F_SETFD, FD_CLOEXEC)
        _ = fcntl(accepted, F_SETFL, O_NONBLOCK)
        return Socket(takingOwnership: FileDescriptor(owning: accepted))
    }

    /// What a call that moves bytes came to.
    enum Transfer {
        case bytes(Int)
        case wouldBlock
        case failed(SystemError)
    }

    /// Receives; 0 bytes mean that the other end has shut its writing side.
    func receive(into buffer: UnsafeMutableRawBufferPointer) -> Transfer {
        transfer("receive") { recv(number, buffer.baseAddress, buffer.count, 0) }
    }

    /// Sends as much as the kernel takes; a connection that is gone raises no SIGPIPE.
    func send(_ bytes: UnsafeRawBufferPointer) -> Transfer {
        transfer("send") { Glibc.send(number, bytes.baseAddress, bytes.count, CInt(MSG_NOSIGNAL)) }
    }

    /// Shuts the writing side: the other end reads what was sent, then the end.
    func shutDownWriting() {
        _ = shutdown(number, CInt(SHUT_WR))
    }

    /// Shuts both directions: whoever waits for the socket is woken.
    func shutDown() {
        _ = shutdown(number, CInt(SHUT_RDWR))
    }

    /// Sets what every connection wants: small writes at once, and silent ends noticed.
    func tune() {
        setOption(CInt(IPPROTO_TCP), TCP_NODELAY, 1)
        setOption(SOL_SOCKET, SO_KEEPALIVE, 1)
        setOption(CInt(IPPROTO_TCP), TCP_USER_TIMEOUT, CInt(Self.deliveryTimeout / .milliseconds(1)))
    }

    /// Sets an integer option; one that the kernel does not have is left.
    func setOption(_ level: CInt, _ name: CInt, _ value: CInt) {
        var value = value
        _ = setsockopt(number, level, name, &value, socklen_t(MemoryLayout<CInt>.size))
    }

    /// The failure that the socket waits to tell, 0 for none.
    func takeError() -> CInt {
        var code: CInt = 0
        var length = socklen_t(MemoryLayout<CInt>.size)
        guard getsockopt(number, SOL_SOCKET, SO_ERROR, &code, &length) == 0 else { return errno }
        return code
    }

    /// This end's address.
    var localAddress: SocketAddress? { address(getsockname) }

    /// The other end's address.
    var remoteAddress: SocketAddress? { address(getpeername) }

    private func address(
        _ ask: (CInt, UnsafeMutablePointer<sockaddr>, UnsafeMutablePointer<socklen_t>) -> CInt
    ) -> SocketAddress? {
        var storage = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        let result = withUnsafeMutablePointer(to: &storage) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { ask(number, $0, &length) }
        }
        return result == 0 ? SocketAddress(storage) : nil
    }

    private func transfer(_ action: String, _ call: () -> Int) -> Transfer {
        while true {
            let result = call()
            if result >= 0 { return .bytes(result) }
            let code = errno
            switch code {
            case EINTR: continue
            case EAGAIN: return .wouldBlock
            default: return .failed(SystemError(action, code: code))
            }
        }
    }
}

extension TransportError {
    /// A standing connection that the system has given up.
    init(lost cause: SystemError) {
        switch cause.code {
        case ECONNRESET, EPIPE: self.init(.truncated, cause: cause)
        default: self.init(.unreachable, cause: cause)
        }
    }
}
