import Dispatch
import HandoffSupport

/// The Dispatch sources of one connection, used on the connection's queue only.
///
/// The source for reading is active only while somebody waits, and the one for writing exists only while output is
/// pending: an idle socket can always be written, and would fire without pause.
final class EventSources: @unchecked Sendable {  // every call is made on `queue`
    private let queue: DispatchQueue
    private var socket: Socket?
    private var readable: (any DispatchSourceProtocol)?
    private var isReadableSuspended = false
    private var writable: (any DispatchSourceProtocol)?

    /// Makes the sources of a socket.
    init(socket: Socket, queue: DispatchQueue) {
        self.socket = socket
        self.queue = queue
    }

    /// Calls `handler` once when there is something to read; the first call's handler serves all.
    func awaitReadable(_ handler: @escaping @Sendable () -> Void) {
        if let readable {
            guard isReadableSuspended else { return }
            isReadableSuspended = false
            readable.resume()
            // A hang-up that came while the source was suspended is never told by Dispatch (swift-corelibs, 6.3).
            if let socket, socket.isReadable { queue.async(execute: handler) }
            return
        }
        readable = makeSource(for: .readable) { [weak self] in
            guard let self, readable != nil else { return }
            readable?.suspend()
            isReadableSuspended = true
            handler()
        }
    }

    /// Calls `handler` whenever the socket can be written, until `endWritable`.
    func beginWritable(_ handler: @escaping @Sendable () -> Void) {
        guard writable == nil else { return }
        writable = makeSource(for: .writable, handler: handler)
    }

    /// Ends the calls that `beginWritable` began.
    func endWritable() {
        writable?.cancel()
        writable = nil
    }

    /// Ends all calls, and lets go of the socket as soon as Dispatch has.
    func cancel() {
        endWritable()
        if isReadableSuspended { readable?.resume() }  // a suspended source never gets to its cancel handler
        isReadableSuspended = false
        readable?.cancel()
        readable = nil
        socket = nil
    }

    private func makeSource(
        for readiness: Readiness,
        handler: @escaping @Sendable () -> Void
    ) -> (any DispatchSourceProtocol)? {
        guard let socket else { return nil }
        let source = socket.makeSource(for: readiness, queue: queue)
        source.setEventHandler(handler: handler)
        source.setCancelHandler { withExtendedLifetime(socket) {} }
        source.activate()
        return source
    }
}
