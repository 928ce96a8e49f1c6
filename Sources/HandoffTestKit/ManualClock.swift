public import HandoffSupport

/// A clock that stands still until a test moves it.
public final class ManualClock: Sendable {
    private struct Sleeper {
        let duration: Duration
        let end: Duration
        let signal: BoundedChannel<Void>
    }

    private struct State {
        var now = Duration.zero
        var sleepers: [UInt64: Sleeper] = [:]
        var lastID: UInt64 = 0
        var watchers: [(duration: Duration, signal: BoundedChannel<Void>)] = []
    }

    private let state = LockedBox(State())

    /// Makes a clock at zero.
    public init() {}

    /// What is given to the code under test.
    public var clock: MonotonicClock {
        MonotonicClock(now: { self.now }, sleep: { try await self.sleep(for: $0) })
    }

    /// The time now.
    public var now: Duration { state.withLock { $0.now } }

    /// Moves the time on and wakes everybody whose time has come.
    public func advance(by duration: Duration) {
        let due = state.withLock { state in
            state.now += duration
            let due = state.sleepers.filter { $0.value.end <= state.now }
            for id in due.keys { state.sleepers[id] = nil }
            return due.values.map(\.signal)
        }
        for signal in due { signal.finish() }
    }

    /// Whether somebody sleeps for a span.
    public func isSlept(for duration: Duration) -> Bool {
        state.withLock { $0.sleepers.values.contains { $0.duration == duration } }
    }

    /// Waits until somebody sleeps for a span: only then does ``advance(by:)`` wake them in time.
    public func waitForSleep(of duration: Duration) async throws {
        let signal = BoundedChannel<Void>(capacity: 1)
        let isSlept = state.withLock { state in
            if state.sleepers.values.contains(where: { $0.duration == duration }) { return true }
            state.watchers.append((duration, signal))
            return false
        }
        if !isSlept { _ = try await signal.next() }
    }

    private func sleep(for duration: Duration) async throws {
        guard duration > .zero else { return }
        let signal = BoundedChannel<Void>(capacity: 1)
        let (id, watchers) = state.withLock { state in
            state.lastID += 1
            let end = state.now + duration
            state.sleepers[state.lastID] = Sleeper(duration: duration, end: end, signal: signal)
            let watchers = state.watchers.filter { $0.duration == duration }
            state.watchers.removeAll { $0.duration == duration }
            return (state.lastID, watchers.map(\.signal))
        }
        for watcher in watchers { watcher.finish() }
        defer { _ = state.withLock { $0.sleepers.removeValue(forKey: id) } }
        _ = try await signal.next()
    }
}
