import HandoffModel
import Testing

@Suite("The latency of a link")
struct LatencyMeterTests {
    /// Lets time pass; each ping of a burst takes what `roundTrip` says, in milliseconds.
    ///
    /// - Returns: When each burst began.
    @discardableResult
    private func run(
        _ meter: inout LatencyMeter,
        until end: Duration,
        _ roundTrip: (_ time: Duration, _ ping: Int) -> Double
    ) -> [Duration] {
        var (starts, sequence, ping) = ([Duration](), 0, 0)
        while meter.deadline <= end {
            let now = meter.deadline
            guard meter.wantsPing(at: now) else { continue }
            if starts.isEmpty || ping == LatencyMeter.pingCount { (starts, ping) = (starts + [now], 0) }
            sequence += 1
            ping += 1
            meter.sent(sequence: sequence, at: now)
            let time = Duration.milliseconds(roundTrip(now, ping))
            if time < LatencyMeter.answerLimit { meter.pong(sequence: sequence, at: now + time) }
        }
        return starts
    }

    @Test("The first ping of a burst does not count, and of the others the shortest does")
    func burst() {
        var meter = LatencyMeter(at: .zero)
        run(&meter, until: .milliseconds(900)) { [0.1, 9, 3, 5][$1 - 1] }
        #expect(meter.reading?.value == .milliseconds(3))
        #expect(meter.reading?.burstCount == 1)
    }

    @Test("A radio that sleeps for 300 ms before each burst is not seen")
    func powerSave() {
        var meter = LatencyMeter(at: .zero)
        run(&meter, until: .seconds(100)) { $1 == 1 ? 300 : 3 }
        #expect(meter.reading?.value == .milliseconds(3))
    }

    @Test("Bursts come every second until three agree, then every 4 s, then every 8 s")
    func rate() {
        var meter = LatencyMeter(at: .zero)
        let starts = run(&meter, until: .seconds(25)) { _, _ in 3 }
        #expect(starts == [0, 1, 2, 6, 14, 22].map { .seconds($0) })
    }

    @Test("A spike of one or two bursts moves nothing, and is looked at every second until it is over")
    func spike() {
        var meter = LatencyMeter(at: .zero)
        run(&meter, until: .seconds(20)) { _, _ in 3 }
        let starts = run(&meter, until: .seconds(32)) { time, _ in time < .seconds(24) ? 300 : 3 }
        #expect(starts.count >= 4)
        #expect(meter.reading?.value == .milliseconds(3))
        #expect(run(&meter, until: .seconds(56)) { _, _ in 3 }.count == 3)
    }

    @Test("A real change is followed within 12 s, whenever it comes", arguments: [(3.0, 90.0), (90.0, 3.0)])
    func change(before: Double, after: Double) throws {
        for millisecond in stride(from: 30_000, to: 38_000, by: 97) {
            var meter = LatencyMeter(at: .zero)
            let moment = Duration.milliseconds(millisecond)
            run(&meter, until: moment) { _, _ in before }
            run(&meter, until: moment + .seconds(12)) { _, _ in after }
            #expect(try #require(meter.reading).latencyClass == LatencyClass(.milliseconds(after)))
        }
    }

    @Test("A link that never agrees with itself is not measured every second for ever")
    func restless() {
        var meter = LatencyMeter(at: .zero)
        let starts = run(&meter, until: .seconds(400)) { time, _ in Int(time / .seconds(1)) % 2 == 0 ? 3 : 90 }
        #expect(starts.count <= 110)
    }

    @Test("A burst without answers says nothing, and the reading before it stays")
    func silence() {
        var meter = LatencyMeter(at: .zero)
        run(&meter, until: .seconds(20)) { _, _ in 3 }
        let reading = meter.reading
        run(&meter, until: .seconds(60)) { _, _ in 5000 }
        #expect(meter.reading == reading)
    }

    @Test("A class is left where the time is a quarter past its bound")
    func hysteresis() {
        let two = LatencyClass(.milliseconds(2))
        #expect(two == .upTo2Milliseconds)
        #expect(LatencyClass(.milliseconds(2.1)) == .upTo8Milliseconds)
        #expect(LatencyClass(.milliseconds(2.5), after: two) == two)
        #expect(LatencyClass(.milliseconds(2.6), after: two) == .upTo8Milliseconds)
        #expect(LatencyClass(.milliseconds(1.7), after: .upTo8Milliseconds) == .upTo8Milliseconds)
        #expect(LatencyClass(.milliseconds(1.6), after: .upTo8Milliseconds) == two)
        #expect(LatencyClass(.seconds(9), after: two) == .more)
        #expect(LatencyClass(.zero, after: .more) == two)
    }
}
