import Dispatch

/// A Dispatch timer that one task waits for, once.
///
/// The first event ends it. Both an event and a cancellation lead through its cancel handler, which runs once: so the
/// waiting task is resumed exactly once.
final class OneShotTimer: @unchecked Sendable {  // Dispatch timers may be cancelled from any thread
    private let timer: any DispatchSourceTimer

    /// Takes a timer that has neither handlers nor been activated.
    init(_ timer: any DispatchSourceTimer) { self.timer = timer }

    /// Waits for the timer's first event.
    ///
    /// - Throws: `CancellationError` when the task is cancelled.
    func wait() async throws {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                timer.setEventHandler { self.timer.cancel() }
                timer.setCancelHandler { continuation.resume() }
                timer.activate()
            }
        } onCancel: {
            timer.cancel()
        }
        try Task.checkCancellation()
    }
}
