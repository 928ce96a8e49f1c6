import FoundationEssentials
import Glibc
import HandoffModel

/// Peers in rooms, with the noise of radios and networks, before the real meter, filter, ranking and choice.
///
/// Time is simulated: an hour takes a moment, and the same seed gives the same hour.
public struct ProximitySimulation {
    /// Where a peer truly is.
    public struct Place: Sendable {
        /// Its signal without noise in dBm; nil where no radio hears it.
        public let level: Double?
        /// Its round trip without noise in milliseconds.
        public let milliseconds: Double

        /// Makes a place.
        public init(level: Double? = nil, milliseconds: Double) {
            self.level = level
            self.milliseconds = milliseconds
        }
    }

    /// What disturbs the measurements.
    public struct Noise: Sendable {
        /// The standard deviation of a signal, in dB.
        public var deviation = 4.0
        /// How much a body in between takes, in dB; for 2 s, every 30 s or so.
        public var dip = 10.0
        /// What a round trip that meets a busy network takes longer, in milliseconds.
        public var spike = 300.0
        /// How many round trips do, beside those of whole busy seconds, one in a minute.
        public var spikeShare = 0.03

        /// The noise of a flat: 4 dB, dips of 10 dB and spikes of 300 ms.
        public init() {}
    }

    /// What came of it.
    public struct Result: Sendable {
        /// The part of the time in which the truly nearest peer was first.
        public let share: Double
        /// When another peer became the nearest, the first choice not counted.
        public let switches: [Duration]
        /// How long it took at most until a change of the truth was followed.
        public let longestLag: Duration
        /// How many pings went to one peer in a second, on average.
        public let pingRate: Double

        /// The shortest time between two changes; nil where there were fewer.
        public var shortestHold: Duration? { zip(switches.dropFirst(), switches).map { $0 - $1 }.min() }
    }

    private struct Peer {
        let id: PeerID
        var presence: LinkPresence
        var filter = SignalFilter()
        var nextAdvert = Duration.zero
        var dipEnd = Duration.zero
        var busyEnd = Duration.zero
        var lastPacket = Duration.zero
        var pongs: [(sequence: Int, time: Duration)] = []
        var pingCount = 0
    }

    private let noise: Noise
    private let places: @Sendable (Duration) -> [Place]
    private let nearest: @Sendable (Duration) -> Int?
    private var generator: SeededGenerator
    private var peers: [Peer] = []
    private var choice = NearestChoice()

    /// Prepares one.
    ///
    /// - Parameters:
    ///   - seed: The same seed gives the same noise.
    ///   - noise: What disturbs the measurements.
    ///   - places: Where each peer truly is at a time.
    ///   - nearest: Which of them is truly the nearest then; nil where none is.
    public init(
        seed: UInt64,
        noise: Noise = Noise(),
        places: @escaping @Sendable (Duration) -> [Place],
        nearest: @escaping @Sendable (Duration) -> Int?
    ) {
        self.noise = noise
        self.places = places
        self.nearest = nearest
        generator = SeededGenerator(seed: seed)
        for _ in places(.zero) {
            let instance = InstanceID(using: &generator)
            var peer = Peer(id: PeerID(machine: UUID(), instance: instance), presence: LinkPresence(at: .zero))
            peer.presence.isOffering = true
            peer.presence.measure(true, at: .zero)
            peers.append(peer)
        }
    }

    /// Lets the time pass.
    public mutating func run(for duration: Duration) -> Result {
        var (now, right, truthSince, lag) = (Duration.zero, Duration.zero, Duration.zero, Duration.zero)
        var (truth, first) = (nearest(.zero), PeerID?.none)
        var switches: [Duration] = []
        while true {
            let next = min(peers.map(nextEvent).min() ?? duration, duration)
            if truth.map({ peers[$0].id == first }) ?? true { right += next - now }
            now = next
            guard now < duration else { break }
            if nearest(now) != truth { (truth, truthSince) = (nearest(now), now) }
            for index in peers.indices where nextEvent(peers[index]) <= now { step(index, at: now) }
            let order = choice.settle(Ranking.order(samples(at: now)), at: now)
            guard let leader = order.first?.sample.peer, order.contains(where: \.sample.isMeasured) else { continue }
            if first != nil, leader != first { switches.append(now) }
            if leader != first, let truth, peers[truth].id == leader { lag = max(lag, now - truthSince) }
            first = leader
        }
        let pings = Double(peers.map(\.pingCount).reduce(0, +)) / Double(peers.count)
        return Result(
            share: right / duration,
            switches: switches,
            longestLag: lag,
            pingRate: pings / (duration / .seconds(1))
        )
    }

    private func nextEvent(_ peer: Peer) -> Duration {
        min(peer.nextAdvert, peer.presence.deadline, peer.pongs.first?.time ?? peer.nextAdvert)
    }

    private func samples(at now: Duration) -> [ProximitySample] {
        peers.map { peer in
            ProximitySample(
                peer: peer.id,
                latency: peer.presence.latency,
                signal: peer.filter.reading(at: now),
                isSuspect: peer.presence.isSuspect
            )
        }
    }

    private mutating func step(_ index: Int, at now: Duration) {
        var peer = peers[index]
        let place = places(now)[index]
        if peer.nextAdvert <= now {
            if let level = place.level { hear(&peer, level, at: now) }
            // A busy second, one in a minute, holds up whole bursts.
            if Double.random(in: 0..<1, using: &generator) < 1.0 / 240 { peer.busyEnd = now + .seconds(1) }
            peer.nextAdvert = now + .milliseconds(250)
        }
        while let pong = peer.pongs.first, pong.time <= now {
            peer.pongs.removeFirst()
            peer.lastPacket = now
            peer.presence.pong(sequence: pong.sequence, at: now)
        }
        if peer.presence.deadline <= now {
            for case .ping(let sequence) in peer.presence.due(at: now) {
                // A stream keeps the order of what it carries.
                let time = max(now + roundTrip(&peer, place, at: now), peer.pongs.last?.time ?? now)
                peer.pongs.append((sequence, time))
                peer.pingCount += 1
            }
        }
        peers[index] = peer
    }

    private mutating func hear(_ peer: inout Peer, _ level: Double, at now: Duration) {
        // Adverts come four times a second.
        if Double.random(in: 0..<1, using: &generator) < 1.0 / 120 { peer.dipEnd = now + .seconds(2) }
        let dip = now < peer.dipEnd ? noise.dip : 0
        peer.filter.add(Int((level + gauss() * noise.deviation - dip).rounded()), at: now)
    }

    private mutating func roundTrip(_ peer: inout Peer, _ place: Place, at now: Duration) -> Duration {
        let isAsleep = now - peer.lastPacket > .milliseconds(200)
        peer.lastPacket = now
        var milliseconds = place.milliseconds * (1 + abs(gauss()) * 0.05)
        // A radio that slept is woken by the first packet.
        if isAsleep { milliseconds += Double.random(in: 50..<300, using: &generator) }
        let isSpike = Double.random(in: 0..<1, using: &generator) < noise.spikeShare
        if isSpike || now < peer.busyEnd { milliseconds += noise.spike }
        return .microseconds(Int(milliseconds * 1000))
    }

    /// A normally distributed value (Box and Muller's method).
    private mutating func gauss() -> Double {
        let radius = (-2 * log(Double.random(in: .leastNonzeroMagnitude..<1, using: &generator))).squareRoot()
        return radius * cos(2 * .pi * Double.random(in: 0..<1, using: &generator))
    }
}

extension ProximitySimulation {
    /// A case that is looked at, and what it is called.
    public struct Scene: Sendable {
        /// What it is.
        public let name: String
        /// True where nobody is nearest, so that nothing may change.
        public let isNoise: Bool
        /// Makes it, with a seed.
        public let make: @Sendable (UInt64) -> ProximitySimulation
    }

    /// An hour in three rooms, and hours of noise among equals.
    public static let scenes: [Scene] =
        [
            scene("three rooms, the user moves every 12 minutes", every: .seconds(720), over: [0, 1, 2, 1, 0]) {
                own,
                index in
                Place(level: [-48, -63, -78][abs(own - index)], milliseconds: 3)
            },
            scene("three peers without radio at 1, 5 and 20 ms, changing every 20 minutes", every: .seconds(1200)) {
                own,
                index in
                Place(milliseconds: [1, 5, 20][(index - own + 3) % 3])
            },
        ]
        + [
            ("in the same room", Place(level: -62, milliseconds: 5)),
            ("at the bound of -55 dBm", Place(level: -55, milliseconds: 5)),
            ("at the bound of -70 dBm", Place(level: -70, milliseconds: 5)),
            ("without radio at the bound of 2 ms", Place(milliseconds: 1.95)),
            ("without radio at the bound of 8 ms", Place(milliseconds: 7.8)),
        ].map { name, place in
            Scene(name: "three equals \(name)", isNoise: true) { seed in
                ProximitySimulation(seed: seed, places: { _ in [place, place, place] }, nearest: { _ in nil })
            }
        }

    private static func scene(
        _ name: String,
        every span: Duration,
        over stations: [Int] = [0, 1, 2],
        _ place: @escaping @Sendable (_ own: Int, _ index: Int) -> Place
    ) -> Scene {
        let station = { @Sendable (time: Duration) in stations[Int(time / span) % stations.count] }
        return Scene(name: name, isNoise: false) { seed in
            ProximitySimulation(
                seed: seed,
                places: { time in (0..<3).map { place(station(time), $0) } },
                nearest: { station($0) }
            )
        }
    }
}
