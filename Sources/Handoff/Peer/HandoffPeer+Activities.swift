import FoundationEssentials
import HandoffModel
import HandoffSupport

/// The origin's side: what is offered, and the answers to those who take it.
extension HandoffPeer {
    /// How many fetched activities are remembered for `continued` and `update`.
    private static let servedCount = 8
    /// How often the wall clock, which may be set at any time, is compared with the date when an activity expires.
    private static let expiryCheckInterval = Duration.seconds(60)
    /// Who continued an activity hears of its changes once in this time, not of each keystroke.
    private static let updateInterval = Duration.seconds(1)

    var currentOffers: [Offer] {
        guard let current, current.state.isOffered(at: wallClock()) else { return [] }
        return [current.offer]
    }

    /// An activity became current, or is current no more.
    ///
    /// What counts is its phase now: of calls that come at the same time, any may be here first.
    func phaseChanged(_ activity: UserActivity) {
        if activity.state.phase == .current {
            if let current, current !== activity { current.wasReplaced() }
            current = activity
            if !isFirstSaveDue { isFirstSaveDue = spawn { await self.saveOnce() } }
        } else {
            guard current === activity else { return }
            current = nil
        }
        tellOffers()
    }

    /// A property of an activity was set: its offer may be another one, and its state newer than what was fetched.
    func changed(_ activity: UserActivity) {
        guard current === activity else { return }
        tellOffers()
        tellContinuers()
    }

    /// The first save: it shows early whether the app's state can travel, and may give the activity its title.
    private func saveOnce() async {
        isFirstSaveDue = false
        guard let activity = current else { return }
        do {
            _ = try await save(activity)
        } catch {
            log(.warning, "the activity's state cannot travel: \(error)", ["activity.type": activity.type])
        }
    }

    private func save(_ activity: UserActivity) async throws -> ActivityPayload {
        let payload = try await activity.payload(lane: lane, clock: clock)
        let size = try payload.check()
        if size > ActivityPayload.recommendedUserInfoSize {
            log(.warning, "large userInfo slows a handoff down", ["activity.type": activity.type, "size": "\(size)"])
        }
        return payload
    }

    // MARK: - Offers

    /// Tells the links what is offered, where that has changed.
    private func tellOffers() {
        watchExpiry()
        let offers = currentOffers
        guard offers != toldOffers else { return }
        toldOffers = offers
        offersRevision += 1
        for (id, entry) in links where entry.peer != nil && !entry.isTelling {
            links[id]?.isTelling = spawn { await self.tellOffers(over: id) }
        }
        changed()
    }

    private func tellOffers(over id: UUID) async {
        guard let link = links[id]?.link else { return }
        links[id]?.isTelling = false
        await link.setOffers(currentOffers, revision: offersRevision)
    }

    private func watchExpiry() {
        guard let date = current?.state.details.expirationDate, case let rest = date.timeIntervalSince(wallClock()),
            rest > 0
        else { return expiryAlarm.cancel() }
        let pause = rest < 60 ? Duration.seconds(rest) : Self.expiryCheckInterval
        expiryAlarm.set(at: clock.now + pause) { [weak self] in await self?.tellOffers() }
    }

    // MARK: - Those who take it

    /// Answers a peer's `fetch`: only now does the app save its state.
    func answer(_ request: Int, activity id: UUID, to peer: RemotePeer) async -> Message {
        guard let activity = activity(id, for: peer.id) else {
            return .failure(request: request, HandoffError(.handoffFailed, "the activity is not offered any more"))
        }
        guard !activity.state.isExpired(at: wallClock()) else {
            return .failure(request: request, HandoffError(.expired, "the activity's time is over"))
        }
        var served = served.first { $0.activity === activity } ?? ServedActivity(activity: activity)
        if served.fetchers.count < HandoffConfiguration.maximumLinks { served.fetchers.insert(peer.id) }
        self.served.removeAll { $0.activity === activity }
        self.served.append(served)
        if self.served.count > Self.servedCount { self.served.removeFirst() }
        do {
            let payload = try await save(activity)
            await activity.willTravel(to: peer, lane: lane, clock: clock)
            return .activity(request: request, payload)
        } catch {
            log(.warning, "the activity's state cannot travel: \(error)", ["activity.type": activity.type])
            let unsaved = HandoffError(.handoffFailed, "the state could not be saved")
            return .failure(request: request, error as? HandoffError ?? unsaved)
        }
    }

    /// The activity that a peer may fetch under an id: the current one, or one that was sent to it.
    private func activity(_ id: UUID, for peer: PeerID) -> UserActivity? {
        if let current, current.id == id, current.isEligibleForHandoff { return current }
        return sent[id].flatMap { $0.peer == peer ? $0.activity : nil }
    }

    /// A peer goes on with an activity that it fetched.
    func continued(_ id: UUID, at peer: PeerID) {
        if let sent = sent[id], sent.peer == peer { sent.outcome.finish() }
        guard let index = served.lastIndex(where: { $0.activity.id == id }) else { return }
        // Who only visits has gone before there is anything to tell it.
        if link(to: peer) != nil, served[index].continuers.count < HandoffConfiguration.maximumLinks {
            served[index].continuers.insert(peer)
        }
        // It may have changed since it was fetched.
        tellContinuers()
        let activity = served[index].activity
        spawn { await activity.wasContinued(lane: self.lane, clock: self.clock) }
    }

    /// Tells those who go on with the current activity that it has changed since the last one of them fetched it.
    private func tellContinuers() {
        guard let current, current.needsSave, let index = served.firstIndex(where: { $0.activity === current }) else {
            return
        }
        let links = served[index].continuers.compactMap { link(to: $0) }
        guard !links.isEmpty else { return }
        if let last = served[index].lastUpdate, clock.now < last + Self.updateInterval {
            updateAlarm.set(at: last + Self.updateInterval) { [weak self] in await self?.tellContinuers() }
            return
        }
        served[index].lastUpdate = clock.now
        for link in links { spawn { await link.send(.update(activity: current.id)) } }
    }
}

/// An activity that was fetched, and who goes on with it.
struct ServedActivity: Sendable {
    let activity: UserActivity
    /// Who may open its streams.
    var fetchers: Set<PeerID> = []
    var continuers: Set<PeerID> = []
    /// When they were last told that it has changed.
    var lastUpdate: Duration?
}
