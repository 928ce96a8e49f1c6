/// What a file descriptor can be waited for.
public enum Readiness: Sendable {
    /// There is something to read, or the end.
    case readable
    /// There is room to write, or nobody reads any more.
    case writable

    /// Waits once until a descriptor is ready.
    ///
    /// - Parameters:
    ///   - descriptor: The descriptor, lent until this returns; nobody else waits for the same of it.
    ///   - owner: Who closes it; kept alive until nobody waits any more.
    /// - Throws: `CancellationError` when the task is cancelled.
    public func wait(for descriptor: CInt, of owner: some AnyObject & Sendable) async throws {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                Poller.shared.wait(for: self, of: descriptor, on: QuietExecutor.shared.queue) { continuation.resume() }
                // It may have been cancelled before there was anything to hurry.
                if Task.isCancelled { Poller.shared.hurry(self, of: descriptor) }
            }
        } onCancel: {
            Poller.shared.hurry(self, of: descriptor)
        }
        withExtendedLifetime(owner) {}
        try Task.checkCancellation()
    }
}
