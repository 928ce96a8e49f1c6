import HandoffSupport

/// The events of a radio, for one consumer.
///
/// Of what the consumer has not taken yet, the latest state waits, and the latest samples: old ones are worth nothing.
public final class RadioEvents: AsyncSequence, Sendable {
    /// How many samples wait at most; with more, the oldest go.
    public static let maximumSamples = 256

    private struct Waiting {
        var state: RadioState?
        var samples: [RadioSample] = []

        mutating func takeFirst() -> RadioEvent? {
            if let state {
                self.state = nil
                return .state(state)
            }
            return samples.isEmpty ? nil : .sample(samples.removeFirst())
        }
    }

    private let waiting = LockedBox(Waiting())
    private let signal = BoundedChannel<Void>(capacity: 1)

    init() {}

    func post(_ event: RadioEvent) {
        waiting.withLock { waiting in
            switch event {
            case .state(let state): waiting.state = state
            case .sample(let sample): waiting.samples = waiting.samples.suffix(Self.maximumSamples - 1) + [sample]
            }
        }
        // A full channel has already a wake-up waiting, a finished one has no consumer.
        _ = try? signal.offer(())
    }

    func finish() {
        signal.finish()
    }

    /// The next event, or nil after the radio's work has ended.
    ///
    /// - Throws: `CancellationError` when the task is cancelled.
    public func next() async throws -> RadioEvent? {
        while true {
            if let event = waiting.withLock({ waiting in waiting.takeFirst() }) { return event }
            guard try await signal.next() != nil else { return waiting.withLock { waiting in waiting.takeFirst() } }
        }
    }

    /// The sequence's one consumer.
    public func makeAsyncIterator() -> Iterator { Iterator(events: self) }

    /// Takes events one after the other.
    public struct Iterator: AsyncIteratorProtocol {
        let events: RadioEvents

        /// The next event, or nil after the radio's work has ended.
        ///
        /// - Throws: `CancellationError`.
        public mutating func next() async throws -> RadioEvent? { try await events.next() }
    }
}
