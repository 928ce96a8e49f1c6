/// A queue of elements between one producer and one consumer that never grows past its bound.
///
/// `AsyncStream` has no back-pressure; here `send` waits until there is room. Elements that were sent before `finish`
/// are still delivered, then the sequence ends or throws.
public final class BoundedChannel<Element: Sendable>: AsyncSequence, Sendable {
    private struct State {
        var elements: [Element] = []
        var outcome: Result<Void, any Error>?
        var consumer: CheckedContinuation<Element?, any Error>?
        var producers: [(id: UInt64, continuation: CheckedContinuation<Void, any Error>)] = []
        var nextID: UInt64 = 0
        var cancelled: Set<UInt64> = []
    }

    private let state = LockedBox(State())
    private let capacity: Int

    /// Makes a channel.
    ///
    /// - Parameter capacity: How many elements wait at most before a sender has to.
    public init(capacity: Int) {
        precondition(capacity > 0, "a channel needs room for one element")
        self.capacity = capacity
    }

    /// Adds an element, waiting while the channel is full.
    ///
    /// - Throws: `ChannelClosed` after `finish`, `CancellationError` when the task is cancelled.
    public func send(_ element: Element) async throws {
        while true {
            switch try offer(element) {
            case true: return
            case false: try await waitForRoom()
            }
        }
    }

    /// Adds an element if there is room.
    ///
    /// - Returns: False where the channel is full.
    /// - Throws: `ChannelClosed` after `finish`.
    public func offer(_ element: Element) throws -> Bool {
        let (accepted, consumer): (Bool, CheckedContinuation<Element?, any Error>?) = try state.withLock { state in
            guard state.outcome == nil else { throw ChannelClosed() }
            if let consumer = state.consumer {
                state.consumer = nil
                return (true, consumer)
            }
            guard state.elements.count < capacity else { return (false, nil) }
            state.elements.append(element)
            return (true, nil)
        }
        consumer?.resume(returning: element)
        return accepted
    }

    /// Ends the sequence after the elements it still holds.
    ///
    /// - Parameter error: What the consumer is told; nil for a plain end. Only the first call counts.
    public func finish(throwing error: (any Error)? = nil) {
        let (consumer, producers): (CheckedContinuation<Element?, any Error>?, [CheckedContinuation<Void, any Error>]) =
            state.withLock { state in
                guard state.outcome == nil else { return (nil, []) }
                state.outcome = error.map { .failure($0) } ?? .success(())
                defer {
                    state.consumer = nil
                    state.producers = []
                }
                return (state.consumer, state.producers.map(\.continuation))
            }
        for producer in producers { producer.resume(throwing: ChannelClosed()) }
        if let error {
            consumer?.resume(throwing: error)
        } else {
            consumer?.resume(returning: nil)
        }
    }

    /// Takes the next element, waiting for one.
    ///
    /// - Returns: Nil at the end.
    /// - Throws: What `finish(throwing:)` was given, or `CancellationError`.
    public func next() async throws -> Element? {
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let (action, producer) = state.withLock { state in take(&state, for: continuation) }
                producer?.resume()
                action?()
            }
        } onCancel: {
            state.withLock { state in
                defer { state.consumer = nil }
                return state.consumer
            }?.resume(throwing: CancellationError())
        }
    }

    private func take(
        _ state: inout State,
        for continuation: CheckedContinuation<Element?, any Error>
    ) -> ((() -> Void)?, CheckedContinuation<Void, any Error>?) {
        precondition(state.consumer == nil, "a channel has one consumer")
        if !state.elements.isEmpty {
            let element = state.elements.removeFirst()
            let producer = state.producers.isEmpty ? nil : state.producers.removeFirst().continuation
            return ({ continuation.resume(returning: element) }, producer)
        }
        switch state.outcome {
        case .success: return ({ continuation.resume(returning: nil) }, nil)
        case .failure(let error): return ({ continuation.resume(throwing: error) }, nil)
        case nil:
            // onCancel may have run before this point; then nobody else would wake us.
            if Task.isCancelled { return ({ continuation.resume(throwing: CancellationError()) }, nil) }
            state.consumer = continuation
            return (nil, nil)
        }
    }

    private func waitForRoom() async throws {
        let id = state.withLock { state in
            state.nextID += 1
            return state.nextID
        }
        defer { _ = state.withLock { state in state.cancelled.remove(id) } }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
                let immediate: Result<Void, any Error>? = state.withLock { state in
                    if state.cancelled.remove(id) != nil { return .failure(CancellationError()) }
                    if state.outcome != nil { return .failure(ChannelClosed()) }
                    if state.elements.count < capacity { return .success(()) }
                    state.producers.append((id, continuation))
                    return nil
                }
                if let immediate { continuation.resume(with: immediate) }
            }
        } onCancel: {
            let continuation: CheckedContinuation<Void, any Error>? = state.withLock { state in
                guard let index = state.producers.firstIndex(where: { $0.id == id }) else {
                    state.cancelled.insert(id)
                    return nil
                }
                return state.producers.remove(at: index).continuation
            }
            continuation?.resume(throwing: CancellationError())
        }
    }

    /// The channel's one consumer.
    public func makeAsyncIterator() -> Iterator { Iterator(channel: self) }

    /// Takes elements from the channel, one after the other.
    public struct Iterator: AsyncIteratorProtocol {
        let channel: BoundedChannel

        /// The next element, or nil at the end.
        ///
        /// - Throws: What the channel was finished with; `CancellationError`.
        public mutating func next() async throws -> Element? { try await channel.next() }
    }
}

/// The channel was finished before the element could be sent.
public struct ChannelClosed: Error, Equatable {
    /// Makes the error.
    public init() {}
}
