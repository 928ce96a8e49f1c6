/// A peer in its place, and why it stands before the next one.
public struct RankedPeer: Hashable, Sendable {
    /// What decided.
    public enum Reason: Hashable, Sendable {
        /// There is no other.
        case only
        /// There is one more, and it is the last.
        case last
        /// The next one did not answer its last ping.
        case nextIsSuspect
        /// The next one is of a farther class.
        case nearerClass(own: Int, next: Int)
        /// As near as the next one, with a round-trip time of a better class.
        case lowerLatency
        /// As near as the next one, and used after it.
        case usedLater
        /// In nothing else different from the next one: the ids decide, the same at both ends.
        case lowerID
        /// It was the nearest before, and the next one is not nearer by so much, or not for so long, that it counts.
        case heldAgainst(PeerID)
        /// A nearer one did not answer when it was asked.
        case answers
    }

    /// What is known of it.
    public let sample: ProximitySample
    /// Why it stands before the next one.
    public let reason: Reason

    /// Gives a place a reason.
    public init(sample: ProximitySample, reason: Reason) {
        self.sample = sample
        self.reason = reason
    }
}

/// The order of peers from near to far: a pure function, the same for the same samples (docs/proximity.md).
public enum Ranking {
    /// Puts peers in order, by (suspect, proximity class, latency class, most recent use, pair).
    ///
    /// A total order: each of its keys is one, and the last is never equal. Decibels and milliseconds are never added.
    ///
    /// - Parameter samples: One for each peer, in any order.
    /// - Returns: The same, the nearest first, each with what puts it before the next one.
    public static func order(_ samples: [ProximitySample]) -> [RankedPeer] {
        let sorted = samples.sorted(by: isBefore)
        return sorted.count == 1 ? [RankedPeer(sample: sorted[0], reason: .only)] : explained(sorted)
    }

    /// Gives samples that are in order their reasons.
    static func explained(_ sorted: [ProximitySample]) -> [RankedPeer] {
        sorted.indices.map { index in
            let next = index + 1 < sorted.count ? sorted[index + 1] : nil
            return RankedPeer(sample: sorted[index], reason: reason(for: sorted[index], before: next))
        }
    }

    /// Whether one is nearer than the other.
    static func isBefore(_ left: ProximitySample, _ right: ProximitySample) -> Bool {
        if left.isSuspect != right.isSuspect { return right.isSuspect }
        if left.proximityClass != right.proximityClass { return left.proximityClass < right.proximityClass }
        if left.latencyClass != right.latencyClass { return left.latencyClass < right.latencyClass }
        if left.lastUse != right.lastUse { return isLater(left.lastUse, right.lastUse) }
        return left.peer < right.peer
    }

    private static func isLater(_ left: Duration?, _ right: Duration?) -> Bool {
        guard let left else { return false }
        return right.map { left > $0 } ?? true
    }

    private static func reason(for sample: ProximitySample, before next: ProximitySample?) -> RankedPeer.Reason {
        guard let next else { return .last }
        if sample.isSuspect != next.isSuspect { return .nextIsSuspect }
        if sample.proximityClass != next.proximityClass {
            return .nearerClass(own: sample.proximityClass, next: next.proximityClass)
        }
        if sample.latencyClass != next.latencyClass { return .lowerLatency }
        return sample.lastUse != next.lastUse ? .usedLater : .lowerID
    }
}
