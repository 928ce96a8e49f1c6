import FoundationEssentials
public import HandoffModel
import HandoffSupport

/// Push: an activity is sent to one peer, whose app accepts or declines it.
extension HandoffPeer {
    /// How many activities may be on their way to others, and how many from others, at once.
    private static let maximumCount = 16
    /// How long the other end may take to fetch and restore what it accepted: each of its steps has its own limit.
    private static let restorationLimit = Duration.seconds(45)
    /// How long the app may think about what is sent to it; the sender gives up after 10 s.
    private static let decisionLimit = Duration.seconds(8)

    /// Sends an activity of this app to one peer and waits until it is restored there.
    ///
    /// It need not be current, and nobody else is told of it. The peer's configuration and its app decide; what it
    /// accepts it fetches, so that the state is saved only then.
    ///
    /// - Parameters:
    ///   - activity: What to send.
    ///   - peer: A paired peer.
    /// - Throws: ``HandoffError``: `connectionUnavailable` where there is no link to the peer, `refused` and
    ///   `versionUnsupported` where it is not wanted there, `invalidActivity` and `expired` where it must not leave, what
    ///   the peer says of its restoration, `remoteApplicationTimedOut`, `handoffFailed` where the peer goes away;
    ///   `CancellationError`.
    public func send(_ activity: UserActivity, to peer: PeerID) async throws {
        let state = activity.state
        guard state.phase != .invalidated, state.isEligibleForHandoff else {
            throw HandoffError(.invalidActivity, "the activity is over, or is to stay on this machine")
        }
        guard !state.isExpired(at: wallClock()) else { throw HandoffError(.expired, "the activity's time is over") }
        guard sent.count < Self.maximumCount, sent[activity.id] == nil else {
            throw HandoffError(.refused, "the activity is being sent already, or too many are: try again later")
        }
        let outcome = BoundedChannel<Void>(capacity: 1)
        sent[activity.id] = SentActivity(activity: activity, peer: peer, outcome: outcome)
        defer { sent[activity.id] = nil }
        guard case .accept = try await ask(peer, { .send(request: $0, activity.offer) }) else {
            throw HandoffError(.handoffFailed, "the peer answered with something else than was asked for")
        }
        let timeout = HandoffError(
            .remoteApplicationTimedOut,
            "the peer took the activity, but did not say within 45 s that it is there"
        )
        try await withDeadline(Self.restorationLimit, clock: clock, timeoutError: timeout) {
            _ = try await outcome.next()
        }
    }

    /// The peer could not restore what it had accepted.
    func failed(_ id: UUID, at peer: PeerID, with error: HandoffError) {
        guard let sent = sent[id], sent.peer == peer else { return }
        sent.outcome.finish(throwing: error)
    }

    /// The peer is gone, and with it what was on its way there.
    func failSends(to peer: PeerID) {
        for sent in sent.values where sent.peer == peer {
            sent.outcome.finish(
                throwing: HandoffError(.handoffFailed, "the peer went away before the activity was there")
            )
        }
    }

    /// Decides on what a peer sends, and takes it over.
    func receive(_ offer: Offer, request: Int, from peer: RemotePeer, over link: Link) async {
        // Counted before the app is asked, which takes its time.
        receiving += 1
        defer { receiving -= 1 }
        let objection = await objection(to: offer, from: peer)
        await link.serve { objection.map { .decline(request: request, $0) } ?? .accept(request: request) }
        guard objection == nil else { return }
        do {
            _ = try await takeOver(offer, from: peer, wasSent: true)
        } catch {
            let error = (error as? MissingPayload)?.error ?? error
            log(.warning, "what a peer sent could not be taken over: \(error)", ["activity.type": offer.type])
            let other = HandoffError(.handoffFailed, "it could not be restored: \(error)")
            await tell(.failed(activity: offer.id, error as? HandoffError ?? other), to: peer.id)
        }
    }

    private func objection(to offer: Offer, from peer: RemotePeer) async -> HandoffError? {
        let host = configuration.host
        guard configuration.sendPolicy.allows(peer) else {
            return HandoffError(.refused, "\(host) is configured not to take what this peer sends")
        }
        if let obstacle = obstacle(to: offer) { return obstacle }
        guard receiving <= Self.maximumCount, !isStopping else {
            return HandoffError(.refused, "\(host) is busy: try again later")
        }
        let application = self.application
        let isWanted: Bool
        do {
            isWanted = try await callback(within: Self.decisionLimit) {
                await application?.shouldAccept(offer, from: peer) ?? true
            }
        } catch {
            return HandoffError(.remoteApplicationTimedOut, "the app on \(host) did not decide in time")
        }
        return isWanted ? nil : HandoffError(.refused, "the app on \(host) does not want it")
    }
}

/// An activity on its way to a peer.
struct SentActivity: Sendable {
    let activity: UserActivity
    let peer: PeerID
    /// Finished when the peer has restored it, or says why it has not.
    let outcome: BoundedChannel<Void>
}
