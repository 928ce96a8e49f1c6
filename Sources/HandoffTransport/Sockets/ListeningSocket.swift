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

/// The Dispatch source of a listening socket.
final class AcceptSource: @unchecked Sendable {  // used on the queue, and by the owner's deinit
    /// Nil after `cancel`, so that the port is free as soon as Dispatch has let go of the socket too.
    private(set) var socket: Socket?
    private let source: any DispatchSourceProtocol
    private let queue: DispatchQueue

    init(socket: Socket, queue: DispatchQueue) {
        self.socket = socket
        self.queue = queue
        source = socket.makeSource(for: .readable, queue: queue)
    }

    /// Calls `handler` whenever a connection waits.
    func activate(_ handler: @escaping @Sendable () -> Void) {
        source.setEventHandler(handler: handler)
        source.setCancelHandler { [socket] in withExtendedLifetime(socket) {} }
        source.activate()
    }

    /// Makes no calls for a while: the queue keeps whoever connects, and there is no spinning.
    func pause(for interval: DispatchTimeInterval) {
        source.suspend()
        // Runs even after a cancellation: a suspended source never gets to its cancel handler.
        queue.asyncAfter(deadline: .now() + interval) { self.source.resume() }
    }

    /// Ends the calls.
    func cancel() {
        source.cancel()
        socket = nil
    }
}
