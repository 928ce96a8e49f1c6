import HandoffModel
import Testing

@Suite("The order of peers")
struct RankingTests {
    private func sample(
        _ byte: UInt8,
        _ milliseconds: Double?,
        isSuspect: Bool = false,
        lastUse: Duration? = nil
    ) -> ProximitySample {
        ProximitySample(
            peer: PeerID(machine: LinkFixture.machineA, instance: LinkFixture.instance(byte)),
            latency: milliseconds.map { .milliseconds($0) },
            isSuspect: isSuspect,
            lastUse: lastUse
        )
    }

    private func order(_ samples: [ProximitySample]) -> [UInt8] {
        Ranking.order(samples).compactMap(\.peer.instance.bytes.first)
    }

    @Test("Nearer classes come first, unmeasured peers with the farthest, suspects last")
    func classes() {
        let samples = [
            sample(1, 1, isSuspect: true), sample(2, nil), sample(3, 40), sample(4, 20), sample(5, 5), sample(6, 1),
        ]
        #expect(order(samples) == [6, 5, 4, 2, 3, 1])
    }

    @Test("Inside a class the most recently used peer comes first, then the lower pair, whatever the noise")
    func ties() {
        #expect(order([sample(1, 0.2), sample(2, 1.9, lastUse: .seconds(5))]) == [2, 1])
        #expect(order([sample(2, 0.1), sample(1, 1.9)]) == [1, 2])
    }

    @Test("The order does not depend on the order of the samples")
    func isTotal() {
        let samples = (UInt8(1)...7).map { (byte: UInt8) -> ProximitySample in
            let latency = Double(byte % 3) * 5
            return sample(byte, latency, isSuspect: byte % 2 == 0)
        }
        let expected = order(samples)
        for _ in 0..<50 { #expect(order(samples.shuffled()) == expected) }
    }
}
