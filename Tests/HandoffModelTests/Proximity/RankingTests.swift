import HandoffModel
import HandoffTestKit
import Testing

@Suite("The order of peers")
struct RankingTests {
    private func sample(
        _ byte: UInt8,
        _ milliseconds: Double?,
        level: Double? = nil,
        isSuspect: Bool = false,
        lastUse: Duration? = nil
    ) -> ProximitySample {
        ProximitySample(
            peer: PeerID(machine: LinkFixture.machineA, instance: LinkFixture.instance(byte)),
            latency: milliseconds.map { LatencyReading(.milliseconds($0)) },
            signal: level.map { SignalReading(level: $0) },
            isSuspect: isSuspect,
            lastUse: lastUse
        )
    }

    private func order(_ samples: [ProximitySample]) -> [UInt8] {
        Ranking.order(samples).compactMap(\.sample.peer.instance.bytes.first)
    }

    @Test("Nearer classes come first, unmeasured peers with the farthest, suspects last")
    func classes() {
        let samples = [
            sample(1, 1, isSuspect: true), sample(2, nil), sample(3, 40), sample(4, 20), sample(5, 5), sample(6, 1),
        ]
        #expect(order(samples) == [6, 5, 4, 2, 3, 1])
    }

    @Test("A signal goes before a round trip: who is on the table is nearer than who is well wired")
    func signals() {
        let samples = [
            sample(1, 1), sample(2, 90, level: -40), sample(3, 90, level: -60), sample(4, 5), sample(5, 1, level: -80),
            sample(6, 20),
        ]
        #expect(order(samples) == [2, 1, 3, 5, 4, 6])
        #expect(Ranking.order(samples).map(\.sample.proximityClass) == [0, 1, 1, 2, 2, 3])
    }

    @Test("Inside a class the most recently used peer comes first, then the lower pair, whatever the noise")
    func ties() {
        #expect(order([sample(1, 0.2), sample(2, 1.9, lastUse: .seconds(5))]) == [2, 1])
        #expect(order([sample(1, 1, lastUse: .zero), sample(2, 1, lastUse: .seconds(-3)), sample(3, 1)]) == [1, 2, 3])
        #expect(order([sample(2, 0.1), sample(1, 1.9)]) == [1, 2])
    }

    @Test("Each place has its reason")
    func reasons() {
        let order = Ranking.order([
            sample(1, 20), sample(2, 1, level: -40), sample(3, 5, level: -40), sample(4, 5, level: -40, lastUse: .zero),
            sample(5, 20), sample(6, 1, isSuspect: true),
        ])
        #expect(
            order.map(\.reason) == [
                .lowerLatency, .usedLater, .nearerClass(own: 0, next: 3), .lowerID, .nextIsSuspect, .last,
            ]
        )
        #expect(Ranking.order([sample(1, 1)]).map(\.reason) == [.only])
        #expect(Ranking.order([]).isEmpty)
        #expect("\(order[0])" == "class 0, -40.0 dBm, 1.0 ms: as near as the next one, with a shorter round trip")
    }

    @Test("It is a total order: of any two one is first, whatever else there is, and in whatever order it comes")
    func isTotal() {
        var generator = SeededGenerator(seed: 1)
        for _ in 0..<300 {
            let samples = (UInt8(0)..<8).map { byte in
                sample(
                    byte,
                    [nil, 1, 2, 5, 20, 90].randomElement(using: &generator) ?? nil,
                    level: [nil, nil, -40, -60, -80].randomElement(using: &generator) ?? nil,
                    isSuspect: Bool.random(using: &generator),
                    lastUse: [nil, .zero, .seconds(3)].randomElement(using: &generator) ?? nil
                )
            }
            let expected = order(samples)
            #expect(order(samples.shuffled(using: &generator)) == expected)
            // Antisymmetric and transitive: each pair stands as it does alone.
            for (index, left) in expected.enumerated() {
                for right in expected[(index + 1)...] {
                    let pair = samples.filter { [left, right].contains($0.peer.instance.bytes[0]) }
                    #expect(order(pair) == [left, right])
                }
            }
        }
    }

    @Test("Noise of up to 4 dB and a fifth of the round trip moves nobody who was there before")
    func isStable() {
        var generator = SeededGenerator(seed: 2)
        for _ in 0..<300 {
            let truth = (UInt8(0)..<6).map { byte in
                (
                    byte, latency: Double.random(in: 0.2..<60, using: &generator),
                    level: Bool.random(using: &generator) ? Double.random(in: -90 ..< -30, using: &generator) : nil
                )
            }
            let before = truth.map { sample($0.0, $0.latency, level: $0.level) }
            let after = zip(truth, before).map { truth, before in
                ProximitySample(
                    peer: before.peer,
                    latency: LatencyReading(
                        .milliseconds(truth.latency * Double.random(in: 0.81...1.24, using: &generator)),
                        after: before.latencyClass
                    ),
                    signal: truth.level.map {
                        let noise = Double.random(in: -3.9...3.9, using: &generator)
                        return SignalReading(level: $0 + noise, after: before.signal?.zone)
                    }
                )
            }
            #expect(order(after) == order(before))
        }
    }
}
