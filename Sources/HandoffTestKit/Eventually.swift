public import Handoff
import HandoffSupport

/// Waits until something is true of a peer, by the system's clock whatever the peer's own may be.
///
/// - Parameters:
///   - peer: The peer that is watched.
///   - limit: The longest wait.
///   - condition: Looked at now, and again after each change.
/// - Returns: False where it did not become true.
public func eventually(
    _ peer: HandoffPeer,
    within limit: Duration = .seconds(20),
    _ condition: @escaping @Sendable (isolated HandoffPeer) -> Bool
) async -> Bool {
    let isTrue = try? await withDeadline(limit, clock: .system, timeoutError: CancellationError()) {
        await peer.wait(atMost: .seconds(1_000_000), until: condition)
    }
    return isTrue ?? false
}

/// Waits until something is true that tells nobody when it changes, looking every 5 ms.
public func eventually(within limit: Duration = .seconds(20), _ condition: () async throws -> Bool) async rethrows
    -> Bool
{
    let clock = MonotonicClock.system
    let end = clock.now + limit
    while clock.now < end {
        if try await condition() { return true }
        try? await clock.sleep(for: .milliseconds(5))
    }
    return try await condition()
}

/// Keeps those who pass it waiting until it is opened.
public final class Gate: Sendable {
    private struct State {
        var isOpen = false
        var arrivals = 0
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    private let state = LockedBox(State())

    /// Makes a closed gate.
    public init() {}

    /// How many have come to it.
    public var arrivals: Int { state.withLock { $0.arrivals } }

    /// Waits until it is open.
    public func pass() async {
        await withCheckedContinuation { continuation in
            let isOpen = state.withLock { state in
                state.arrivals += 1
                if !state.isOpen { state.waiting.append(continuation) }
                return state.isOpen
            }
            if isOpen { continuation.resume() }
        }
    }

    /// Opens it for good.
    public func open() {
        let waiting = state.withLock { state in
            state.isOpen = true
            defer { state.waiting = [] }
            return state.waiting
        }
        for continuation in waiting { continuation.resume() }
    }
}
