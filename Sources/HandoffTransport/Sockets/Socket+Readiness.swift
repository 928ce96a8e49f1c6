import HandoffSupport

extension Socket {
    /// Waits once until the socket is ready.
    ///
    /// - Throws: `CancellationError` when the task is cancelled.
    func wait(until readiness: Readiness) async throws {
        try await readiness.wait(for: number, of: self)
    }
}
