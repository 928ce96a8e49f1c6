import HandoffSupport

/// The events of a discovery, for one consumer.
///
/// What the consumer has not taken yet is coalesced: of each service, of availability and so on only the latest event
/// waits, in the place of the first. So the memory it needs is bound by the number of services, and no state is lost.
public final class DiscoveryEvents: AsyncSequence, Sendable {
    fileprivate enum Subject: Hashable {
        case service(String)
        case announcement
        case settled
        case availability
    }

    fileprivate struct State {
        var order: [Subject] = []
        var latest: [Subject: DiscoveryEvent] = [:]
        /// The services that the consumer believes to be there.
        var known: Set<String> = []
    }

    private let state = LockedBox(State())
    private let signal = BoundedChannel<Void>(capacity: 1)

    /// Makes a sequence without events.
    public init() {}

    /// Tells an event.
    public func post(_ event: DiscoveryEvent) {
        state.withLock { state in state.add(event) }
        // A full channel has already a wake-up waiting, a finished one has no consumer.
        _ = try? signal.offer(())
    }

    /// Ends the sequence, after what has been told.
    public func finish() {
        signal.finish()
    }

    /// The next event, or nil after the discovery has ended.
    ///
    /// - Throws: `CancellationError` when the task is cancelled.
    public func next() async throws -> DiscoveryEvent? {
        while true {
            if let event = state.withLock({ state in state.takeFirst() }) { return event }
            guard try await signal.next() != nil else { return state.withLock { state in state.takeFirst() } }
        }
    }

    /// The sequence's one consumer.
    public func makeAsyncIterator() -> Iterator { Iterator(events: self) }

    /// Takes events one after the other.
    public struct Iterator: AsyncIteratorProtocol {
        let events: DiscoveryEvents

        /// The next event, or nil after the discovery has ended.
        ///
        /// - Throws: `CancellationError`.
        public mutating func next() async throws -> DiscoveryEvent? { try await events.next() }
    }
}

extension DiscoveryEvents.State {
    fileprivate mutating func add(_ event: DiscoveryEvent) {
        let subject = event.subject
        if case .lost(let name) = event, !known.contains(name) {
            // It came and went unseen.
            if latest.removeValue(forKey: subject) != nil { order.removeAll { $0 == subject } }
            return
        }
        if latest.updateValue(event, forKey: subject) == nil { order.append(subject) }
    }

    fileprivate mutating func takeFirst() -> DiscoveryEvent? {
        guard !order.isEmpty, let event = latest.removeValue(forKey: order.removeFirst()) else { return nil }
        switch event {
        case .found(let service): known.insert(service.instanceName)
        case .lost(let name): known.remove(name)
        default: break
        }
        return event
    }
}

extension DiscoveryEvent {
    fileprivate var subject: DiscoveryEvents.Subject {
        switch self {
        case .found(let service): .service(service.instanceName)
        case .lost(let name): .service(name)
        case .announced: .announcement
        case .settled: .settled
        case .available, .unavailable: .availability
        }
    }
}
