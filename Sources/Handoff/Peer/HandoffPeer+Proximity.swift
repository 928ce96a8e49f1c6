import HandoffModel
import HandoffSupport

/// How near the linked peers are.
extension HandoffPeer {
    /// All paired peers from near to far, each with what is known of it and why it stands before the next one.
    ///
    /// The ranking alone, of this moment; ``candidates(includingWebpages:)`` keeps the nearest where the difference is
    /// noise. Peers that offer nothing are measured only by visitors and by the ping of each minute.
    public func ranking() async -> [RankedPeer] {
        var samples: [ProximitySample] = []
        for entry in linkedPeers() { samples.append(await sample(of: entry.peer.id, over: entry.link)) }
        return Ranking.order(samples)
    }

    /// What is known of a peer's nearness.
    func sample(of peer: PeerID, over link: Link) async -> ProximitySample {
        let (latency, isSuspect) = await link.proximity
        return ProximitySample(
            peer: peer,
            latency: latency,
            signal: hearing.signal(of: peer.machine, at: clock.now),
            isSuspect: isSuspect,
            lastUse: lastUse[peer]
        )
    }

    /// The choice of the nearest is looked at so often at most, however many peers are measured.
    private static let choiceInterval = Duration.milliseconds(100)

    func linkMeasured(_ link: Link) {
        if links[link.id]?.offers.isEmpty == false { measured() } else { changed() }
    }

    /// A peer that offers something was measured anew: the choice has to know since when another one is nearer.
    func measured() {
        changed()
        guard lastChoice.map({ clock.now - $0 >= Self.choiceInterval }) ?? true else { return }
        lastChoice = clock.now
        // Not awaited: it asks all links.
        spawn { _ = await self.candidates() }
    }

    /// Waits until the round-trip time of each linked peer that is measured rests on a whole burst.
    ///
    /// - Parameter limit: The longest wait.
    func awaitMeasurements(within limit: Duration) async {
        guard limit > .zero else { return }
        let links = linkedPeers().map(\.link)
        await withTaskGroup(of: Void.self) { group in
            for link in links { group.addTask { await link.awaitMeasurement(within: limit) } }
        }
    }
}
