import Dispatch
import HandoffSupport

extension Socket {
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
