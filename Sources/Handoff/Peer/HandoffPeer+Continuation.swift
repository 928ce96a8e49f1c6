import FoundationEssentials
public import HandoffModel
import HandoffSupport

/// A peer's offer that this app could continue.
public struct Candidate: Sendable, Hashable {
    /// Who offers.
    public let peer: RemotePeer
    /// What is offered.
    public let offer: Offer
    /// The round-trip time to the peer; nil where none was measured.
    public let latency: Duration?
}

/// What came of a continuation, with the peers that failed before it.
public struct Continuation: Sendable {
    /// What was restored.
    public let activity: ContinuedActivity
    /// Nearer peers whose payload did not arrive, and why.
    public let failures: [(peer: RemotePeer, error: HandoffError)]
}

extension HandoffPeer {
    /// A candidate that was heard of so recently need not be pinged before it is chosen.
    private static let freshness = Duration.seconds(2)
    /// How long a candidate may take to answer that ping.
    private static let livenessLimit = Duration.milliseconds(300)
    /// How long an app may take for one callback.
    private static let callbackLimit = Duration.seconds(30)

    /// The offers that this app can continue, nearest first.
    public func candidates() async -> [Candidate] {
        var found: [PeerID: Candidate] = [:]
        var samples: [ProximitySample] = []
        for entry in linkedPeers() {
            guard let offer = links[entry.link.id]?.offers.first(where: { configuration.types.contains($0.type) })
            else {
                continue
            }
            let (latency, isSuspect) = await entry.link.proximity
            let id = entry.peer.id
            found[id] = Candidate(peer: entry.peer, offer: offer, latency: latency)
            samples.append(
                ProximitySample(peer: id, latency: latency, isSuspect: isSuspect, lastUse: lastUse[id])
            )
        }
        return Ranking.order(samples).compactMap { found[$0.peer] }
    }

    /// Continues the nearest peer's activity; where its payload does not arrive, the next nearest one's.
    ///
    /// - Parameter isWanted: Which candidates may be chosen.
    /// - Returns: What was given to the app, and which peers failed before.
    /// - Throws: ``HandoffError``: the peer's, `handoffFailed` where there are several or nothing is offered,
    ///   `cancelled`, `refused` where the app does not want it; what the app's restoration throws.
    public func continueNearest(
        where isWanted: @Sendable (Candidate) -> Bool = { _ in true }
    ) async throws -> Continuation {
        await awaitSuccessors()
        let wanted = await candidates().filter(isWanted)
        guard !wanted.isEmpty else {
            throw HandoffError(.handoffFailed, "no paired peer offers anything that could be continued here")
        }
        var failures: [(peer: RemotePeer, error: HandoffError)] = []
        for candidate in await livingFirst(wanted) {
            do {
                return Continuation(activity: try await accept(candidate), failures: failures)
            } catch let failure as MissingPayload {
                guard failure.error.code != .cancelled else { throw failure.error }
                failures.append((candidate.peer, failure.error))
            }
        }
        throw failures.count == 1
            ? failures[0].error
            : HandoffError(
                .handoffFailed,
                "no peer's activity could be fetched: "
                    + failures.map { "\($0.peer.hello.host): \($0.error.message)" }.joined(separator: "; ")
            )
    }

    /// Continues one offer.
    ///
    /// A second call while the first still fetches cancels the first.
    ///
    /// - Parameter candidate: One of ``candidates()``.
    /// - Returns: What was given to the app.
    /// - Throws: ``HandoffError``; what the app's restoration throws.
    public func continueActivity(_ candidate: Candidate) async throws -> ContinuedActivity {
        do {
            return try await accept(candidate)
        } catch let failure as MissingPayload {
            throw failure.error
        }
    }

    private func accept(_ candidate: Candidate) async throws -> ContinuedActivity {
        fetching?.cancel()
        // Cancelled by the next call, or with this one.
        let task = Task(executorPreference: QuietExecutor.shared) { try await self.fetchAndRestore(candidate) }
        fetching = task
        return try await withTaskCancellationHandler {
            try await task.value
        } onCancel: {
            task.cancel()
        }
    }

    private func fetchAndRestore(_ candidate: Candidate) async throws -> ContinuedActivity {
        let (peer, offer) = (candidate.peer, candidate.offer)
        let application = self.application
        let isWelcome: Bool
        do {
            isWelcome = try await callback { await application?.shouldContinue(offer, from: peer) ?? true }
        } catch is CancellationError {
            throw Self.givenUp
        }
        guard isWelcome else { throw HandoffError(.refused, "this app does not continue \(offer.type) now") }
        let activity: ContinuedActivity
        do {
            try await callback { _ = await application?.willContinue(type: offer.type, from: peer) }
            activity = ContinuedActivity(payload: try await fetch(candidate), origin: peer)
        } catch {
            let error = error as? HandoffError ?? Self.givenUp
            // Not in this task, which may be cancelled: exactly one of the two callbacks follows willContinue.
            await Task(executorPreference: QuietExecutor.shared) {
                try? await self.callback {
                    await application?.didFailToContinue(type: offer.type, error: error)
                }
            }.value
            throw MissingPayload(error: error)
        }
        // Nor in this task what cannot be undone any more: the app restores, and the origin hears of it.
        try await Task(executorPreference: QuietExecutor.shared) { try await self.restore(activity) }.value
        return activity
    }

    private func restore(_ activity: ContinuedActivity) async throws {
        let application = self.application
        try await callback { try await application?.continueActivity(activity) }
        let peer = activity.origin.id
        lastUse[peer] = clock.now
        await link(to: peer)?.send(.continued(activity: activity.id))
    }

    private static let givenUp = HandoffError(.cancelled, "the continuation was given up")

    private func fetch(_ candidate: Candidate) async throws -> ActivityPayload {
        let id = candidate.offer.id
        guard case .activity(_, let payload) = try await ask(candidate.peer.id, { .fetch(request: $0, activity: id) }),
            payload.id == id, payload.type == candidate.offer.type
        else { throw HandoffError(.handoffFailed, "the peer answered with something else than was asked for") }
        _ = try ActivityPayload.encodedSize(of: payload.userInfo)
        return payload
    }

    /// Asks a peer over its link, and once more where that gives way to another one meanwhile.
    private func ask(_ peer: PeerID, _ make: @Sendable (Int) -> Message) async throws -> Message {
        let first = try await standingLink(to: peer)
        do {
            return try await first.request(make)
        } catch let error as HandoffError where error.code == .connectionUnavailable {
            return try await standingLink(to: peer, after: first).request(make)
        }
    }

    /// The link to a peer; where it was just ended as a duplicate, the one that stays, as soon as it is paired here.
    private func standingLink(to peer: PeerID, after duplicate: Link? = nil) async throws -> Link {
        if duplicate != nil || superseded[peer] != nil {
            _ = await wait(atMost: Self.successionLimit) { $0.link(to: peer).map { $0 !== duplicate } ?? false }
        }
        guard let link = link(to: peer), link !== duplicate else {
            throw HandoffError(.connectionUnavailable, "there is no link to the peer any more")
        }
        return link
    }

    private func callback<Value: Sendable>(_ body: @escaping @Sendable () async throws -> Value) async throws -> Value {
        let timeout = HandoffError(.remoteApplicationTimedOut, "the app's callback took longer than 30 s")
        return try await lane.run(limit: Self.callbackLimit, clock: clock, timeoutError: timeout, body)
    }

    /// The candidates that answer a ping or were heard of just now, then the others, each in their order.
    private func livingFirst(_ candidates: [Candidate]) async -> [Candidate] {
        let links = candidates.map { link(to: $0.peer.id) }
        let living = await withTaskGroup(of: Int?.self) { group in
            for (index, link) in links.enumerated() {
                group.addTask {
                    let isAlive = await link?.isAlive(within: Self.livenessLimit, heardWithin: Self.freshness) ?? false
                    return isAlive ? index : nil
                }
            }
            return await group.reduce(into: Set<Int>()) { if let index = $1 { $0.insert(index) } }
        }
        let order = candidates.indices.filter(living.contains) + candidates.indices.filter { !living.contains($0) }
        return order.map { candidates[$0] }
    }

    /// The link to a peer.
    func link(to peer: PeerID) -> Link? {
        registry[peer].flatMap { links[$0]?.link }
    }

    /// The paired peers that are no visitors, with the link that stands for each.
    func linkedPeers() -> [(peer: RemotePeer, link: Link)] {
        links.values.compactMap { entry in
            guard let peer = entry.peer, registry[peer.id] == entry.link.id else { return nil }
            return (peer, entry.link)
        }
    }
}

/// The payload did not arrive: the only failure after which another peer may be asked.
private struct MissingPayload: Error {
    let error: HandoffError
}
