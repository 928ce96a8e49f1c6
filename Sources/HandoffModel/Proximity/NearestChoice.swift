/// Keeps the nearest peer from changing with each breath: the stage on top of ``Ranking``.
///
/// The nearest stays until another one was clearly nearer for a while, or until it is gone or suspect. Who has only just
/// appeared, or was only just measured, need not wait: that is news and no noise.
public struct NearestChoice: Sendable {
    /// How long another one has to be clearly nearer.
    public static let minimumLead = Duration.seconds(3)
    /// The shortest time between two changes.
    public static let minimumHold = Duration.seconds(5)
    /// Signals that differ by less are equal: a body in between takes as much.
    public static let clearLevel = 8.0
    /// Round-trip times that differ by less are equal, or by less than half of the shorter.
    public static let clearLatency = Duration.milliseconds(2)

    private var nearest: PeerID?
    private var chosen = Duration.zero
    private var challenge: (peer: PeerID, since: Duration)?
    private var measured: Set<PeerID> = []

    /// Starts without a choice.
    public init() {}

    /// Puts the peer that is to be nearest to the front of an order.
    ///
    /// - Parameters:
    ///   - order: What ``Ranking/order(_:)`` says; asked for each time a measurement is there or a peer comes or goes.
    ///   - now: The time.
    /// - Returns: The order, with the one that was nearest before at its front where it stays that.
    public mutating func settle(_ order: [RankedPeer], at now: Duration) -> [RankedPeer] {
        defer { measured = Set(order.lazy.map(\.sample).filter(\.isMeasured).map(\.peer)) }
        guard let first = order.first?.sample else {
            (nearest, challenge) = (nil, nil)
            return order
        }
        guard let index = order.firstIndex(where: { $0.sample.peer == nearest }), !order[index].sample.isSuspect else {
            choose(first.peer, at: now)
            return order
        }
        guard index > 0 else {
            challenge = nil
            return order
        }
        guard Self.isClear(first, over: order[index].sample) else {
            challenge = nil
            return Self.front(index, of: order)
        }
        if challenge?.peer != first.peer { challenge = (first.peer, now) }
        let lead = now - (challenge?.since ?? now)
        guard !measured.contains(first.peer) || (lead >= Self.minimumLead && now - chosen >= Self.minimumHold) else {
            return Self.front(index, of: order)
        }
        choose(first.peer, at: now)
        return order
    }

    private mutating func choose(_ peer: PeerID, at now: Duration) {
        (nearest, chosen, challenge) = (peer, now, nil)
    }

    /// Whether one that the ranking puts first differs from the other by more than noise.
    private static func isClear(_ first: ProximitySample, over other: ProximitySample) -> Bool {
        if first.proximityClass != other.proximityClass {
            // With one signal only the two cannot be compared but by their classes.
            switch (first.signal, other.signal) {
            case (let left?, let right?): return left.level - right.level >= clearLevel
            case (nil, nil): return isClear(first.latency, over: other.latency)
            default: return true
            }
        }
        if first.latencyClass != other.latencyClass { return isClear(first.latency, over: other.latency) }
        // What was used later was chosen by somebody; ids are no reason to change.
        return first.lastUse != other.lastUse
    }

    private static func isClear(_ first: LatencyReading?, over other: LatencyReading?) -> Bool {
        guard let first, let other else { return first != nil }
        return other.value - first.value >= clearLatency && other.value >= first.value * 3 / 2
    }

    private static func front(_ index: Int, of order: [RankedPeer]) -> [RankedPeer] {
        var samples = order.map(\.sample)
        let held = samples.remove(at: index)
        // The others' reasons are told anew: one of them had the held one for its next.
        let reason = RankedPeer.Reason.heldAgainst(samples[0].peer)
        return [RankedPeer(sample: held, reason: reason)] + Ranking.explained(samples)
    }
}
