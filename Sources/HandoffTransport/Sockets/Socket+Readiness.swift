import Dispatch
import Glibc
import HandoffSupport

extension Socket {
    /// What a socket can be waited for.
    enum Readiness {
        case readable
        case writable
    }

    /// True where a read would not block: something has come, or the connection is over.
    var isReadable: Bool {
        var state = pollfd(fd: number, events: Int16(POLLIN), revents: 0)
        return poll(&state, 1, 0) > 0
    }

    /// Waits once until the socket is ready.
    ///
    /// - Throws: `CancellationError` when the task is cancelled.
    func wait(until readiness: Readiness) async throws {
        let source = OneShot(makeSource(for: readiness, queue: .global()))
        await withTaskCancellationHandler {
            await withCheckedContinuation { source.activate(socket: self, continuation: $0) }
        } onCancel: {
            source.cancel()
        }
        try Task.checkCancellation()
    }

    /// Makes a source that is neither given its handlers nor activated.
    func makeSource(for readiness: Readiness, queue: DispatchQueue) -> any DispatchSourceProtocol {
        switch readiness {
        case .readable: DispatchSource.makeReadSource(fileDescriptor: number, queue: queue)
        case .writable: DispatchSource.makeWriteSource(fileDescriptor: number, queue: queue)
        }
    }

    /// A source whose first event ends it.
    ///
    /// Both an event and a cancellation lead through its cancel handler, which runs once: so the waiting task is resumed exactly once, and not before the kernel has let go of the socket.
    private final class OneShot: @unchecked Sendable {  // Dispatch sources may be cancelled from any thread
        private let source: any DispatchSourceProtocol

        init(_ source: any DispatchSourceProtocol) { self.source = source }

        func activate(socket: Socket, continuation: CheckedContinuation<Void, Never>) {
            source.setEventHandler { self.source.cancel() }
            source.setCancelHandler {
                withExtendedLifetime(socket) { continuation.resume() }
            }
            source.activate()
        }

        func cancel() { source.cancel() }
    }
}
