/// What is known of a peer's nearness.
public struct ProximitySample: Hashable, Sendable {
    /// The peer.
    public let peer: PeerID
    /// The round-trip time; nil where none was measured.
    public let latency: Duration?
    /// True where it did not answer its last ping.
    public let isSuspect: Bool
    /// When it was last used, on the ranking host's clock; nil where it never was.
    public let lastUse: Duration?

    /// Makes a sample.
    public init(peer: PeerID, latency: Duration?, isSuspect: Bool, lastUse: Duration? = nil) {
        self.peer = peer
        self.latency = latency
        self.isSuspect = isSuspect
        self.lastUse = lastUse
    }
}

/// The order of peers from near to far: a pure function, the same for the same samples.
public enum Ranking {
    /// Round-trip times up to these bounds share a class: wired, Wi-Fi, far Wi-Fi; differences inside one are noise.
    public static let classBounds: [Duration] = [.milliseconds(2), .milliseconds(8), .milliseconds(30)]

    /// The samples from near to far: by (suspect, latency class, most recent use, pair), a total order.
    public static func order(_ samples: [ProximitySample]) -> [ProximitySample] {
        samples.sorted { left, right in
            if left.isSuspect != right.isSuspect { return right.isSuspect }
            let (leftClass, rightClass) = (latencyClass(left.latency), latencyClass(right.latency))
            if leftClass != rightClass { return leftClass < rightClass }
            if left.lastUse != right.lastUse { return (left.lastUse ?? .zero) > (right.lastUse ?? .zero) }
            return left.peer < right.peer
        }
    }

    /// The class of a round-trip time: 1 to 4 from near to far, 4 also where none is known.
    public static func latencyClass(_ latency: Duration?) -> Int {
        guard let latency else { return classBounds.count + 1 }
        return (classBounds.firstIndex { latency <= $0 } ?? classBounds.count) + 1
    }
}
