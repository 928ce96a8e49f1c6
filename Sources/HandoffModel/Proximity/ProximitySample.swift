/// What is known of a peer's nearness.
///
/// Another measure of nearness gets its place here, and its say in ``proximityClass``.
public struct ProximitySample: Hashable, Sendable {
    /// The peer.
    public let peer: PeerID
    /// The round-trip time; nil where none was measured.
    public let latency: LatencyReading?
    /// The signal's strength; nil where no radio hears the peer.
    public let signal: SignalReading?
    /// True where it did not answer its last ping.
    public let isSuspect: Bool
    /// When it was last used, on the ranking host's clock; nil where it never was.
    public let lastUse: Duration?

    /// Makes a sample.
    ///
    /// - Parameters:
    ///   - peer: The peer.
    ///   - latency: The round-trip time.
    ///   - signal: The signal's strength.
    ///   - isSuspect: Whether it did not answer its last ping.
    ///   - lastUse: When it was last used.
    public init(
        peer: PeerID,
        latency: LatencyReading?,
        signal: SignalReading? = nil,
        isSuspect: Bool = false,
        lastUse: Duration? = nil
    ) {
        self.peer = peer
        self.latency = latency
        self.signal = signal
        self.isSuspect = isSuspect
        self.lastUse = lastUse
    }

    /// The class of its round-trip time; the last where none was measured.
    public var latencyClass: LatencyClass { latency?.latencyClass ?? .more }

    /// How near it is, from 0 to 4: by its signal where there is one, else by its round-trip time.
    ///
    /// A signal says how far it is to the machine, a round trip how good the network is; so the signal decides, and a
    /// peer without one is at most as near as one in the same room.
    public var proximityClass: Int {
        switch (signal?.zone, latencyClass) {
        case (.immediate, _): 0
        case (.near, _), (nil, .upTo2Milliseconds): 1
        case (.far, _), (nil, .upTo8Milliseconds): 2
        case (nil, .upTo30Milliseconds): 3
        case (nil, .more): 4
        }
    }

    /// True where its place rests on a whole burst or on a signal, and not on a single ping.
    public var isMeasured: Bool { signal != nil || (latency?.burstCount ?? 0) > 0 }
}
