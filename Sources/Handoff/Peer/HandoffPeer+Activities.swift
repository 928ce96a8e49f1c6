import FoundationEssentials
import HandoffModel
import HandoffSupport

extension HandoffPeer {
    /// How many fetched activities are remembered for `continued`.
    private static let servedCount = 8

    var currentOffers: [Offer] { current.map { [$0.offer] } ?? [] }

    func becameCurrent(_ activity: UserActivity) {
        if let current, current !== activity { current.wasReplaced() }
        current = activity
        tellOffers()
        if !isFirstSaveDue { isFirstSaveDue = spawn { await self.saveOnce() } }
    }

    func resigned(_ activity: UserActivity) {
        guard current === activity else { return }
        current = nil
        tellOffers()
    }

    /// The first save: it shows early whether the app's state can travel, and may give the activity its title.
    private func saveOnce() async {
        isFirstSaveDue = false
        guard let activity = current else { return }
        await tellIfRenamed(activity) {
            do {
                _ = try await activity.payload()
            } catch {
                log(.warning, "the activity's state cannot travel: \(error)", ["activity.type": activity.type])
            }
        }
    }

    private func tellIfRenamed(_ activity: UserActivity, _ save: () async -> Void) async {
        let before = activity.offer
        await save()
        if current === activity, activity.offer != before { tellOffers() }
    }

    private func tellOffers() {
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

    /// Answers a peer's `fetch`: only now does the app save its state.
    func answer(_ request: Int, activity id: UUID) async -> Message {
        guard let activity = current, activity.id == id else {
            return .failure(request: request, HandoffError(.handoffFailed, "the activity is not offered any more"))
        }
        served.removeAll { $0 === activity }
        served.append(activity)
        if served.count > Self.servedCount { served.removeFirst() }
        var answer = Message.failure(request: request, HandoffError(.handoffFailed, "the state could not be saved"))
        await tellIfRenamed(activity) {
            do {
                answer = .activity(request: request, try await activity.payload())
            } catch {
                log(.warning, "the activity's state cannot travel: \(error)", ["activity.type": activity.type])
                if let error = error as? HandoffError { answer = .failure(request: request, error) }
            }
        }
        return answer
    }
}
