import HandoffModel
import HandoffSupport

/// What the peer tells programs on its machine, so that they need not look around themselves.
extension HandoffPeer {
    /// Tells programs what is seen, until the task is cancelled; a visitor has nothing to tell.
    func publishStatus() async {
        guard let localPeers, !configuration.isVisitor else { return }
        do {
            try await localPeers.serve(id) { try await self.statusDocument() }
        } catch is CancellationError {
            // The peer stops.
        } catch {
            log(.info, "programs on this machine cannot ask what is seen: \(error)")
        }
    }

    func statusDocument() async throws -> StatusDocument {
        // Nobody has asked for the places that only this app looks at.
        let others = await peers().filter { $0.place == nil }
        guard let ownStatus, discoveryProblem == nil, isSettled, !isStopping, others.allSatisfy(\.isCertain) else {
            return try StatusDocument(nil, of: identity)
        }
        return try StatusDocument([ownStatus] + others, of: identity)
    }

    /// How others see this peer; nil where it is not announced.
    private var ownStatus: PeerStatus? {
        guard let ownService, ownService.instanceName == announcedName else { return nil }
        let sample = ProximitySample(peer: id, latency: LatencyReading(.zero))
        return PeerStatus(
            id: id,
            hello: hello,
            service: announcedName,
            place: nil,
            announcedHost: ownService.hostName,
            addresses: ownService.addresses,
            account: .match,
            team: .match,
            pairing: .paired,
            reason: nil,
            offers: currentOffers,
            nearness: RankedPeer(sample: sample, reason: .only)
        )
    }
}

extension PeerStatus {
    /// Whether a new look would tell the same: not of a peer of ours that was not reached, or does not answer just now.
    fileprivate var isCertain: Bool {
        guard account == .match, team == .match else { return true }
        return pairing == .paired && nearness?.sample.isSuspect == false
    }
}
