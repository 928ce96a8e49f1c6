import HandoffSupport

/// Those who wait for the answer about a service.
final class ServiceWaiters: Sendable {
    private typealias Waiter = CheckedContinuation<DiscoveredService, any Error>

    private struct State {
        var waiters: [UInt64: (instanceName: String, waiter: Waiter)] = [:]
        var lastID: UInt64 = 0
        var cancelled: Set<UInt64> = []
    }

    private let state = LockedBox(State())

    /// Waits until the service is answered, or all are refused.
    ///
    /// - Parameters:
    ///   - ask: Called once the answer cannot be missed any more.
    ///   - forget: Called where the last one that waited for this service has given up.
    func wait(
        for instanceName: String,
        ask: @Sendable () -> Void,
        forget: @Sendable () -> Void
    ) async throws -> DiscoveredService {
        let id = state.withLock { state in
            state.lastID += 1
            return state.lastID
        }
        defer { _ = state.withLock { $0.cancelled.remove(id) } }
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { waiter in
                let isCancelled = state.withLock { state in
                    if state.cancelled.contains(id) { return true }
                    state.waiters[id] = (instanceName, waiter)
                    return false
                }
                if isCancelled { waiter.resume(throwing: CancellationError()) } else { ask() }
            }
        } onCancel: {
            let (waiter, isLast): (Waiter?, Bool) = state.withLock { state in
                guard let removed = state.waiters.removeValue(forKey: id) else {
                    state.cancelled.insert(id)
                    return (nil, false)
                }
                return (removed.waiter, !state.waiters.values.contains { $0.instanceName == instanceName })
            }
            if isLast { forget() }
            waiter?.resume(throwing: CancellationError())
        }
    }

    func answer(_ service: DiscoveredService) {
        for waiter in take(where: { $0 == service.instanceName }) { waiter.resume(returning: service) }
    }

    func refuse(_ error: DiscoveryError) {
        for waiter in take(where: { _ in true }) { waiter.resume(throwing: error) }
    }

    private func take(where isMeant: (String) -> Bool) -> [Waiter] {
        state.withLock { state in
            let meant = state.waiters.filter { isMeant($0.value.instanceName) }
            for id in meant.keys { state.waiters.removeValue(forKey: id) }
            return meant.values.map(\.waiter)
        }
    }
}
