import HandoffDiscovery
import HandoffSupport

extension HandoffPeer {
    /// How long the round-trip times of those who were found may hold a visitor up.
    private static let measuringLimit = Duration.milliseconds(400)

    /// Runs the peer for as long as something takes, and stops it in order afterwards: for commands that only visit.
    ///
    /// - Parameter body: What the peer is for; cancelled where the peer cannot run.
    /// - Returns: What `body` returns.
    /// - Throws: What `body` or ``run()`` throws.
    public func whileRunning<Result: Sendable>(
        _ body: @escaping @Sendable () async throws -> Result
    ) async throws -> Result {
        try await withThrowingTaskGroup(of: Result?.self) { group in
            group.addTask {
                try await self.run()
                return nil
            }
            group.addTask {
                do {
                    let result = try await body()
                    await self.stop()
                    return result
                } catch {
                    await self.stop()
                    throw error
                }
            }
            var result: Result?
            for try await outcome in group { result = outcome ?? result }
            guard let result else { throw CancellationError() }
            return result
        }
    }

    /// Waits until the first look around is over: who is announced is known, and each of ours is paired or has failed.
    ///
    /// The round-trip times of those that were found are measured, too.
    ///
    /// - Parameter limit: The longest wait; what is known by then counts.
    /// - Throws: `DiscoveryError` where peers cannot be looked for at all: neither by discovery, nor at any address.
    public func lookAround(atMost limit: Duration) async throws {
        let end = clock.now + limit
        _ = await wait(atMost: limit) { $0.isSettled }
        if let discoveryProblem, schedule.targets.isEmpty { throw discoveryProblem }
        await awaitMeasurements(within: min(Self.measuringLimit, end - clock.now))
    }
}
