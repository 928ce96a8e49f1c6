import Dispatch

/// A Dispatch source that one task waits for, once.
///
/// The first event ends it. Both an event and a cancellation lead through its cancel handler, which runs once: so the
/// waiting task is resumed exactly once, and not before the kernel has let go of what the source watched.
final class OneShotSource: @unchecked Sendable {  // Dispatch sources may be cancelled from any thread
    private let source: any DispatchSourceProtocol

    /// Takes a source that has neither handlers nor been activated.
    init(_ source: any DispatchSourceProtocol) { self.source = source }

    /// Waits for the source's first event.
    ///
    /// - Parameter owner: Kept alive until the source has ended.
    /// - Throws: `CancellationError` when the task is cancelled.
    func wait(keeping owner: some Sendable) async throws {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                source.setEventHandler { self.source.cancel() }
                source.setCancelHandler {
                    withExtendedLifetime(owner) { continuation.resume() }
                }
                source.activate()
            }
        } onCancel: {
            source.cancel()
        }
        try Task.checkCancellation()
    }
}
