import Dispatch

extension QueueExecutor {
    /// Runs a function that blocks on the queue, and waits for it without holding a thread of Swift's pool.
    ///
    /// - Returns: What `body` returns.
    /// - Throws: What `body` throws.
    public func run<Result: Sendable>(_ body: @escaping @Sendable () throws -> Result) async throws -> Result {
        try await withCheckedThrowingContinuation { continuation in
            queue.async { continuation.resume(with: .init(catching: body)) }
        }
    }
}
