import Dispatch
import Glibc
import HandoffSupport

/// Makes sockets that listen.
enum ListeningSocket {
    /// How many connections wait to be accepted; Linux's own default since 5.4 is larger, and a flood needs no more.
    private static let backlog: CInt = 128

    /// Listens on a port of all addresses: IPv6 and IPv4 with one socket, or IPv4 alone where there is no IPv6.
    static func open(port: UInt16) throws(SystemError) -> Socket {
        do {
            return try open([UInt8](repeating: 0, count: 16), port: port)
        } catch  where error.code == EAFNOSUPPORT || error.code == EADDRNOTAVAIL {
            return try open([0, 0, 0, 0], port: port)
        }
    }

    private static func open(_ octets: [UInt8], port: UInt16) throws(SystemError) -> Socket {
        guard let address = SocketAddress(octets: octets, port: port) else {
            preconditionFailure("4 or 16 octets make an address")
        }
        let socket = try Socket(family: address.family)
        socket.setOption(SOL_SOCKET, SO_REUSEADDR, 1)
        if address.isIPv6 { socket.setOption(CInt(IPPROTO_IPV6), IPV6_V6ONLY, 0) }
        var code = address.withSockaddr { bind(socket.number, $0, $1) == 0 ? 0 : errno }
        guard code == 0 else { throw SystemError("bind port \(port)", code: code) }
        code = listen(socket.number, backlog) == 0 ? 0 : errno
        guard code == 0 else { throw SystemError("listen on port \(port)", code: code) }
        return socket
    }
}

/// The connections that wait at a listening socket, used on its owner's queue, and by the owner's deinit.
final class AcceptSource: @unchecked Sendable {  // nobody else is there when the owner goes
    /// Nil after `cancel`, so that the port is free at once.
    private(set) var socket: Socket?
    private let queue: DispatchQueue
    /// How long the handler wants to be left alone.
    private var pause: DispatchTimeInterval?

    init(socket: Socket, queue: DispatchQueue) {
        self.socket = socket
        self.queue = queue
    }

    /// Calls `handler` whenever a connection waits, until `cancel`.
    func activate(_ handler: @escaping @Sendable () -> Void) {
        guard let socket else { return }
        Poller.shared.wait(for: .readable, of: socket.number, on: queue) { [weak self] in
            guard let self, self.socket != nil else { return }
            pause = nil
            handler()
            guard let pause else { return activate(handler) }
            queue.asyncAfter(deadline: .now() + pause) { [weak self] in self?.activate(handler) }
        }
    }

    /// Makes no calls for a while after this one: the queue keeps whoever connects, and there is no spinning.
    func pause(for interval: DispatchTimeInterval) {
        pause = interval
    }

    /// Ends the calls.
    func cancel() {
        if let socket { Poller.shared.forget(.readable, of: socket.number) }
        socket = nil
    }
}
