import HandoffModel
import HandoffTestKit
import Testing

@Suite("The strength of a radio signal")
struct SignalFilterTests {
    /// Four samples a second.
    private func feed(_ filter: inout SignalFilter, _ levels: [Int], from start: Duration = .zero) -> Duration {
        var now = start
        for level in levels {
            now += .milliseconds(250)
            filter.add(level, at: now)
        }
        return now
    }

    @Test("A zone is left where the signal is 4 dB past its bound")
    func zones() {
        #expect(ProximityZone(level: -54.9) == .immediate)
        #expect(ProximityZone(level: -55.1) == .near)
        #expect(ProximityZone(level: -70.1) == .far)
        #expect(ProximityZone(level: -58.9, after: .immediate) == .immediate)
        #expect(ProximityZone(level: -59.1, after: .immediate) == .near)
        #expect(ProximityZone(level: -51.1, after: .near) == .near)
        #expect(ProximityZone(level: -50.9, after: .near) == .immediate)
        #expect(ProximityZone(level: -120, after: .immediate) == .far)
    }

    @Test("Three samples within 4 s make a reading, which is no more after 10 s without one")
    func freshness() {
        var filter = SignalFilter()
        var now = feed(&filter, [-60, -60])
        #expect(filter.reading(at: now) == nil)
        now = feed(&filter, [-60], from: now)
        #expect(filter.reading(at: now)?.level == -60)
        #expect(filter.reading(at: now + .seconds(10)) != nil)
        #expect(filter.reading(at: now + .seconds(11)) == nil)
        _ = feed(&filter, [-80], from: now + .seconds(20))
        #expect(filter.reading(at: now + .seconds(21)) == nil)
    }

    @Test("What radios report where they know nothing is dropped")
    func unknown() {
        var filter = SignalFilter()
        let now = feed(&filter, [-60, 127, 0, -60, 5, -60, 127])
        #expect(filter.reading(at: now)?.level == -60)
    }

    @Test("A dip of 2 s moves nothing")
    func dip() {
        var filter = SignalFilter()
        var now = feed(&filter, Array(repeating: -60, count: 20))
        for _ in 1...8 {
            now = feed(&filter, [-90], from: now)
            #expect(filter.reading(at: now)?.level == -60)
        }
        now = feed(&filter, [-60], from: now)
        #expect(filter.reading(at: now)?.level == -60)
    }

    @Test(
        "A change of zone is followed within 12 samples, 3 s",
        arguments: [(-48, -63), (-63, -48), (-63, -78), (-78, -63)]
    )
    func change(before: Int, after: Int) {
        var filter = SignalFilter()
        var now = feed(&filter, Array(repeating: before, count: 20))
        now = feed(&filter, Array(repeating: after, count: 12), from: now)
        #expect(filter.reading(at: now)?.zone == ProximityZone(level: Double(after)))
    }
}
