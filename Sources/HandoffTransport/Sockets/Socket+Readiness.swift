import Dispatch
import Glibc
import HandoffSupport

extension Socket {
    /// True where a read would not block: something has come, or the connection is over.
    var isReadable: Bool {
        var state = pollfd(fd: number, events: Int16(POLLIN), revents: 0)
        return poll(&state, 1, 0) > 0
    }

    /// Waits once until the socket is ready.
    ///
    /// - Throws: `CancellationError` when the task is cancelled.
    func wait(until readiness: Readiness) async throws {
        try await readiness.wait(for: number, of: self)
    }

    /// Makes a source that is neither given its handlers nor activated.
    func makeSource(for readiness: Readiness, queue: DispatchQueue) -> any DispatchSourceProtocol {
        readiness.makeSource(for: number, queue: queue)
    }
}
