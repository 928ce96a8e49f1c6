import HandoffSupport

/// Runs an app's callbacks one at a time, in the order they were asked for.
final class CallbackLane: Sendable {
    private let tail = LockedBox<Task<Void, Never>?>(nil)

    /// Runs a callback when those before it are over.
    ///
    /// - Parameters:
    ///   - limit: How long the caller waits. A callback that takes longer is not abandoned half-way: it goes on, and
    ///     the next one waits for it.
    ///   - clock: What the limit is measured by.
    ///   - timeoutError: What is thrown after the limit.
    ///   - callback: The app's code.
    func run<Value: Sendable>(
        limit: Duration,
        clock: MonotonicClock,
        timeoutError: any Error,
        _ callback: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        let outcome = BoundedChannel<Value>(capacity: 1)
        tail.withLock { tail in
            let previous = tail
            // Nobody cancels it: it ends when the app's callbacks do.
            tail = Task(executorPreference: QuietExecutor.shared) {
                await previous?.value
                do {
                    _ = try outcome.offer(await callback())
                    outcome.finish()
                } catch {
                    outcome.finish(throwing: error)
                }
            }
        }
        let value = try await withDeadline(limit, clock: clock, timeoutError: timeoutError) { try await outcome.next() }
        guard let value else { throw timeoutError }
        return value
    }
}
