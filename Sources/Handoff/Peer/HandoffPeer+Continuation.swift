import FoundationEssentials
import HandoffModel
import HandoffSupport

/// What came of a continuation, with the peers that failed before it.
public struct Continuation: Sendable {
    /// What was restored; of a ``Candidate/isWebpage`` nothing is, and its address is here.
    public let activity: ContinuedActivity
    /// True where no app here takes the activity, and only its web page is of use.
    public let isWebpage: Bool
    /// Why that peer was chosen; nil where it was not ranked.
    public let nearness: RankedPeer?
    /// Nearer peers whose payload did not arrive, and why.
    public let failures: [(peer: RemotePeer, error: HandoffError)]
}

/// The continuing side: the choice of a peer, and the road from the user's yes to the restored state.
extension HandoffPeer {
    /// How long an app may take for one callback.
    private static let callbackLimit = Duration.seconds(30)
    /// How many continued activities are remembered for `update`.
    private static let continuedCount = 8

    /// Continues the nearest peer's activity; where its payload does not arrive, the next nearest one's.
    ///
    /// - Parameters:
    ///   - includesWebpages: Whether to take the web page of what no app here continues.
    ///   - isWanted: Which candidates may be chosen.
    /// - Returns: What was given to the app, and which peers failed before.
    /// - Throws: ``HandoffError``: the peer's, `handoffFailed` where there are several or nothing is offered,
    ///   `cancelled`, `refused` where the app does not want it; what the app's restoration throws.
    public func continueNearest(
        includingWebpages includesWebpages: Bool = false,
        where isWanted: @Sendable (Candidate) -> Bool = { _ in true }
    ) async throws -> Continuation {
        await awaitSuccessors()
        let wanted = await candidates(includingWebpages: includesWebpages).filter(isWanted)
        guard !wanted.isEmpty else { throw nothingToContinue(where: isWanted) }
        var failures: [(peer: RemotePeer, error: HandoffError)] = []
        for candidate in await livingFirst(wanted) {
            do {
                let activity = try await accept(candidate)
                return Continuation(
                    activity: activity,
                    isWebpage: candidate.isWebpage,
                    nearness: candidate.nearness,
                    failures: failures
                )
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
    /// - Parameter candidate: One of ``candidates(includingWebpages:)``.
    /// - Returns: What was given to the app.
    /// - Throws: ``HandoffError``; what the app's restoration throws.
    public func continueActivity(_ candidate: Candidate) async throws -> ContinuedActivity {
        do {
            return try await accept(candidate)
        } catch let failure as MissingPayload {
            throw failure.error
        }
    }

    /// Says why nothing can be continued: every offer that is there has its reason.
    private func nothingToContinue(where isWanted: (Candidate) -> Bool) -> HandoffError {
        let obstacles = obstacles().filter { isWanted(Candidate(peer: $0.peer, offer: $0.offer)) }
        let nothing = "no paired peer offers anything that could be continued here"
        switch obstacles.count {
        case 0: return HandoffError(.handoffFailed, nothing)
        case 1: return obstacles[0].error
        default:
            let reasons = obstacles.map { "\($0.peer.hello.host): \($0.error.message)" }.joined(separator: "; ")
            return HandoffError(.handoffFailed, "\(nothing): \(reasons)")
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
        // No app here takes it, so there is none to ask.
        guard !candidate.isWebpage else { return try await fetchWebpage(offer, from: peer) }
        let application = self.application
        let isWelcome: Bool
        do {
            isWelcome = try await callback { await application?.shouldContinue(offer, from: peer) ?? true }
        } catch is CancellationError {
            throw Self.givenUp
        }
        guard isWelcome else { throw HandoffError(.refused, "this app does not continue \(offer.type) now") }
        return try await takeOver(offer, from: peer, wasSent: false)
    }

    /// Fetches and restores what the app wants.
    func takeOver(_ offer: Offer, from peer: RemotePeer, wasSent: Bool) async throws -> ContinuedActivity {
        let application = self.application
        let activity: ContinuedActivity
        do {
            try await callback { _ = await application?.willContinue(type: offer.type, from: peer) }
            let payload = try await fetch(offer, from: peer)
            activity = ContinuedActivity(payload: payload, origin: peer, wasSent: wasSent)
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
        continued.removeAll { $0.id == activity.id }
        continued.append(activity)
        if continued.count > Self.continuedCount { continued.removeFirst() }
        await goesOnHere(activity)
    }

    private func goesOnHere(_ activity: ContinuedActivity) async {
        let peer = activity.origin.id
        lastUse[peer] = clock.now
        await tell(.continued(activity: activity.id), to: peer)
    }

    private func fetchWebpage(_ offer: Offer, from peer: RemotePeer) async throws -> ContinuedActivity {
        do {
            let payload = try await fetch(offer, from: peer)
            guard payload.details.webpageURL != nil else {
                throw HandoffError(.handoffFailed, "the activity has no web page any more")
            }
            let activity = ContinuedActivity(payload: payload, origin: peer, wasSent: false)
            await goesOnHere(activity)
            return activity
        } catch {
            throw MissingPayload(error: error as? HandoffError ?? Self.givenUp)
        }
    }

    private static let givenUp = HandoffError(.cancelled, "the continuation was given up")

    // MARK: - Updates

    /// The origin says that what was continued here has changed since.
    func originChanged(_ id: UUID, at peer: PeerID) {
        guard let activity = continued.last(where: { $0.id == id && $0.origin.id == peer }) else { return }
        guard updating.insert(id).inserted else { return }  // it is being fetched, or about to be
        if !spawn({ await self.update(activity) }) { updating.remove(id) }
    }

    private func update(_ activity: ContinuedActivity) async {
        defer { updating.remove(activity.id) }
        let application = self.application
        guard (try? await callback({ await application?.shouldUpdate(activity) ?? false })) == true else { return }
        let offer = Offer(
            id: activity.id,
            type: activity.type,
            title: activity.title,
            contentVersion: activity.contentVersion
        )
        do {
            let payload = try await fetch(offer, from: activity.origin)
            let newer = ContinuedActivity(payload: payload, origin: activity.origin, wasSent: activity.wasSent)
            if let index = continued.firstIndex(where: { $0.id == newer.id }) { continued[index] = newer }
            try await callback { await application?.didUpdate(newer) }
        } catch {
            log(.info, "the newer state of an activity did not come: \(error)", ["activity.type": activity.type])
        }
    }

    // MARK: - Asking

    private func fetch(_ offer: Offer, from peer: RemotePeer) async throws -> ActivityPayload {
        guard case .activity(_, let payload) = try await ask(peer.id, { .fetch(request: $0, activity: offer.id) }),
            payload.offer.id == offer.id, payload.offer.type == offer.type
        else { throw HandoffError(.handoffFailed, "the peer answered with something else than was asked for") }
        try payload.check()
        if configuration.types.contains(offer.type), let obstacle = obstacle(to: payload.offer) { throw obstacle }
        return payload
    }

    /// Asks a peer over its link, and once more where that gives way to another one meanwhile.
    func ask(
        _ peer: PeerID,
        within limit: Duration = Link.Deadline.request,
        _ make: @Sendable (Int) -> Message
    ) async throws -> Message {
        let first = try await standingLink(to: peer)
        do {
            return try await first.request(within: limit, make)
        } catch let error as HandoffError where error.code == .connectionUnavailable {
            return try await standingLink(to: peer, after: first).request(within: limit, make)
        }
    }

    /// Tells a peer something that it waits for, over the link that stays where another one is just giving way.
    func tell(_ message: Message, to peer: PeerID) async {
        // Without a link there is nobody to hear it.
        try? await standingLink(to: peer).send(message)
    }

    /// The link to a peer; where it was just ended as a duplicate, the one that stays, as soon as it is paired here.
    private func standingLink(to peer: PeerID, after duplicate: Link? = nil) async throws -> Link {
        if duplicate != nil || superseded[peer] != nil {
            _ = await wait(atMost: Self.successionLimit) { $0.link(to: peer).map { $0 !== duplicate } ?? false }
        }
        guard let link = anyLink(to: peer), link !== duplicate else {
            throw HandoffError(.connectionUnavailable, "there is no link to the peer any more")
        }
        return link
    }

    func callback<Value: Sendable>(
        within limit: Duration = callbackLimit,
        _ body: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        let timeout = HandoffError(.remoteApplicationTimedOut, "the app's callback took longer than \(limit)")
        return try await lane.run(limit: limit, clock: clock, timeoutError: timeout, body)
    }
}

/// The payload did not arrive: the only failure after which another peer may be asked.
struct MissingPayload: Error {
    let error: HandoffError
}
