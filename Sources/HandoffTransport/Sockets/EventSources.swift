import Dispatch
import HandoffSupport

/// The events of one connection's socket, used on the connection's queue only.
///
/// Reading is told of once each time that somebody asks, writing only while output is pending: an idle socket can always
/// be written, and would be told of without pause.
final class EventSources: @unchecked Sendable {  // every call is made on `queue`
    private let queue: DispatchQueue
    private var socket: Socket?
    private var isAwaitingReadable = false
    private var isAwaitingWritable = false

    /// Makes the events of a socket.
    init(socket: Socket, queue: DispatchQueue) {
        self.socket = socket
        self.queue = queue
    }

    /// Calls `handler` once when there is something to read, unless somebody waits for that already.
    func awaitReadable(_ handler: @escaping @Sendable () -> Void) {
        guard let socket, !isAwaitingReadable else { return }
        isAwaitingReadable = true
        Poller.shared.wait(for: .readable, of: socket.number, on: queue) { [weak self] in
            guard let self, isAwaitingReadable else { return }
            isAwaitingReadable = false
            handler()
        }
    }

    /// Calls `handler` whenever the socket can be written, until `endWritable`.
    func beginWritable(_ handler: @escaping @Sendable () -> Void) {
        guard !isAwaitingWritable else { return }
        isAwaitingWritable = true
        awaitWritable(handler)
    }

    private func awaitWritable(_ handler: @escaping @Sendable () -> Void) {
        guard let socket else { return }
        Poller.shared.wait(for: .writable, of: socket.number, on: queue) { [weak self] in
            guard let self, isAwaitingWritable else { return }
            handler()
            if isAwaitingWritable { awaitWritable(handler) }
        }
    }

    /// Ends the calls that `beginWritable` began.
    func endWritable() {
        guard isAwaitingWritable else { return }
        isAwaitingWritable = false
        if let socket { Poller.shared.forget(.writable, of: socket.number) }
    }

    /// Ends all calls, and lets go of the socket.
    func cancel() {
        endWritable()
        if isAwaitingReadable, let socket { Poller.shared.forget(.readable, of: socket.number) }
        isAwaitingReadable = false
        socket = nil
    }
}
