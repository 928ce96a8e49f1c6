/// The pauses between tries that keep failing: each twice the one before, up to a limit, with jitter.
public struct Backoff: Sendable {
    private let first: Duration
    private let limit: Duration
    private var next: Duration

    /// Makes a back-off.
    ///
    /// - Parameters:
    ///   - first: The pause after the first failure.
    ///   - limit: The longest pause.
    public init(first: Duration, limit: Duration) {
        self.first = first
        self.limit = limit
        next = first
    }

    /// The pause before the next try: between half and the whole of the current step, so that peers which failed
    /// together do not come back together.
    ///
    /// - Parameter generator: Where the jitter comes from.
    public mutating func pause(using generator: inout some RandomNumberGenerator) -> Duration {
        let step = next
        next = min(step * 2, limit)
        return step * Double.random(in: 0.5...1, using: &generator)
    }

    /// Starts again from the first pause, after a success.
    public mutating func reset() {
        next = first
    }
}
