import Dispatch

/// Time that only goes forward, as a duration since some fixed moment, given from outside so that tests can turn it.
public struct MonotonicClock: Sendable {
    private let read: @Sendable () -> Duration
    private let wait: @Sendable (Duration) async throws -> Void

    /// Makes a clock from its two functions.
    ///
    /// - Parameters:
    ///   - now: Reads the time.
    ///   - sleep: Waits for a span; throws `CancellationError` when the task is cancelled.
    public init(
        now: @escaping @Sendable () -> Duration,
        sleep: @escaping @Sendable (Duration) async throws -> Void
    ) {
        read = now
        wait = sleep
    }

    /// The time now.
    public var now: Duration { read() }

    /// Waits.
    ///
    /// - Parameter duration: How long.
    /// - Throws: `CancellationError` when the task is cancelled.
    public func sleep(for duration: Duration) async throws {
        try await wait(duration)
    }

    /// The system's clock, which stands still while the machine is suspended.
    ///
    /// It sleeps by a Dispatch timer: Swift 6.3's own `sleep` wakes the process once a second on Linux, however long the
    /// span, and keeps the timer of a sleep that was cancelled.
    public static let system: MonotonicClock = {
        let clock = SuspendingClock()
        let start = clock.now
        return MonotonicClock(
            now: { start.duration(to: clock.now) },
            sleep: { span in
                let timer = DispatchSource.makeTimerSource(queue: QuietExecutor.shared.queue)
                let nanoseconds = Int(min(span, .seconds(1 << 30)) / .nanoseconds(1))
                timer.schedule(deadline: .now() + .nanoseconds(nanoseconds), leeway: .nanoseconds(0))
                try await OneShotTimer(timer).wait()
            }
        )
    }()
}

/// Runs an operation that must be over within a span.
///
/// - Parameters:
///   - duration: The longest it may take.
///   - clock: What the span is measured by.
///   - timeoutError: What is thrown when it takes longer.
///   - operation: The work; it is cancelled when the span is over, and must then return soon.
/// - Throws: `timeoutError`, what `operation` throws, or `CancellationError`.
public func withDeadline<Result: Sendable>(
    _ duration: Duration,
    clock: MonotonicClock,
    timeoutError: any Error,
    operation: @escaping @Sendable () async throws -> Result
) async throws -> Result {
    try await withThrowingTaskGroup(of: Result?.self) { group in
        group.addTask { try await operation() }
        group.addTask {
            try await clock.sleep(for: duration)
            return nil
        }
        defer { group.cancelAll() }
        guard let first = try await group.next(), let result = first else { throw timeoutError }
        return result
    }
}
