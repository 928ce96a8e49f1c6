import Dispatch
public import HandoffSupport

/// Discovery by mDNS and DNS-SD through avahi-daemon.
///
/// It lives through the death of the daemon and of the message bus: both are waited for, and what was announced is
/// announced again.
public final class AvahiDiscovery: Discovery {
    /// How long a cancelled `run` waits for its thread, which may be stuck in a call to a daemon that hangs; it then
    /// ends by itself, within libavahi's 25 s.
    private static let stopLimit: DispatchTimeInterval = .seconds(2)

    /// What happened, for one consumer.
    public let events = DiscoveryEvents()
    private let type: String
    private let mailbox: AvahiMailbox
    private let waiters = ServiceWaiters()
    private let clock: MonotonicClock
    private let log: Log

    /// Makes a discovery that does nothing before `run`.
    ///
    /// - Parameters:
    ///   - type: The service type, such as `_handoff._tcp`; RFC 6335 allows 15 characters between `_` and `.`.
    ///   - clock: What pauses and deadlines are measured by.
    ///   - log: Told when the daemon cannot be reached.
    /// - Throws: `DiscoveryError` where the process is out of file descriptors.
    public init(type: String, clock: MonotonicClock = .system, log: Log = .none) throws(DiscoveryError) {
        self.type = type
        self.clock = clock
        self.log = log
        mailbox = try AvahiMailbox()
    }

    /// Does the work until the task is cancelled, then withdraws the announcement and returns.
    ///
    /// Cancelled while the daemon hangs, it returns within two seconds, and the thread ends later.
    ///
    /// - Throws: `DiscoveryError` where the process is out of threads or memory.
    public func run() async throws {
        let (type, mailbox, waiters, events, clock, log) = (type, mailbox, waiters, events, clock, log)
        let outcome = OneTimeResult()
        defer {
            events.finish()
            waiters.refuse(.ended)
        }
        try await withTaskCancellationHandler {
            try start {
                let engine = AvahiEngine(
                    type: type,
                    mailbox: mailbox,
                    waiters: waiters,
                    events: events,
                    clock: clock,
                    log: log
                )
                outcome.set(Result { () throws(DiscoveryError) in try engine.run() })
            }
            try await outcome.value()
        } onCancel: {
            mailbox.stop()
            DispatchQueue.global().asyncAfter(deadline: .now() + Self.stopLimit) { outcome.set(.success(())) }
        }
    }

    private func start(_ thread: @escaping @Sendable () -> Void) throws(DiscoveryError) {
        do {
            try BackgroundThread.start(thread)
        } catch {
            throw DiscoveryError(.failed, "cannot look for peers: \(error)", rawCode: error.code)
        }
    }

    /// Announces a service in place of the one announced before, as soon as the daemon is there.
    ///
    /// - Throws: ``DiscoveryError`` with the code `invalidAnnouncement`.
    public func announce(
        _ announcement: ServiceAnnouncement,
        onCollision: @escaping @Sendable (ServiceAnnouncement) -> ServiceAnnouncement
    ) throws(DiscoveryError) {
        try announcement.validate()
        mailbox.post(.announce(announcement, onCollision: onCollision))
    }

    /// Takes the announcement back.
    public func withdraw() {
        mailbox.post(.withdraw)
    }

    /// Asks the daemon where a service is now.
    ///
    /// Refused at once while the daemon is known to be unreachable.
    ///
    /// - Throws: ``DiscoveryError`` with the code `timedOut`, or why the daemon cannot be asked; `CancellationError`.
    public func resolve(_ instanceName: String, within limit: Duration) async throws -> DiscoveredService {
        let (waiters, mailbox) = (waiters, mailbox)
        return try await withDeadline(limit, clock: clock, timeoutError: DiscoveryError.notFound(instanceName)) {
            try await waiters.wait(
                for: instanceName,
                ask: { mailbox.post(.want(instanceName: instanceName)) },
                forget: { mailbox.post(.forget(instanceName: instanceName)) }
            )
        }
    }
}

/// A result that is set from one side, at times twice, and awaited once from the other.
private final class OneTimeResult: Sendable {
    private enum State {
        case open
        case awaited(CheckedContinuation<Void, any Error>)
        case set(Result<Void, DiscoveryError>)
    }

    private let state = LockedBox(State.open)

    /// Sets the result; only the first call counts.
    func set(_ result: Result<Void, DiscoveryError>) {
        let waiter: CheckedContinuation<Void, any Error>? = state.withLock { state in
            switch state {
            case .open: state = .set(result)
            case .awaited(let waiter):
                state = .set(result)
                return waiter
            case .set: break
            }
            return nil
        }
        waiter?.resume(with: result)
    }

    func value() async throws {
        try await withCheckedThrowingContinuation { waiter in
            let result: Result<Void, DiscoveryError>? = state.withLock { state in
                if case .set(let result) = state { return result }
                state = .awaited(waiter)
                return nil
            }
            if let result { waiter.resume(with: result) }
        }
    }
}
