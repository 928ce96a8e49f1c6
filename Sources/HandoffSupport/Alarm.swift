/// One call at a later time, that can be moved or called off; owned by an actor.
///
/// Setting it again calls off what was set before; it must be cancelled before its owner goes.
public struct Alarm: Sendable {
    private let clock: MonotonicClock
    private var task: Task<Void, Never>?

    /// Makes an alarm that is not set.
    public init(clock: MonotonicClock) {
        self.clock = clock
    }

    /// Sets it.
    ///
    /// - Parameters:
    ///   - moment: When to call, on the alarm's clock; a moment that is over means at once.
    ///   - call: What to call. It is not told to stop once it has begun.
    public mutating func set(at moment: Duration, _ call: @escaping @Sendable () async -> Void) {
        task?.cancel()
        task = Task(executorPreference: QuietExecutor.shared) { [clock] in
            let pause = moment - clock.now
            if pause > .zero {
                guard (try? await clock.sleep(for: pause)) != nil else { return }
            }
            guard !Task.isCancelled else { return }
            // In a task of its own: the call itself may move the alarm, which must not cancel what it is doing.
            await Task(executorPreference: QuietExecutor.shared) { await call() }.value
        }
    }

    /// Calls it off.
    public mutating func cancel() {
        task?.cancel()
        task = nil
    }
}
