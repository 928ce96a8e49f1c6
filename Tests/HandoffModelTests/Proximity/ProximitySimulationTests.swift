import Glibc
import HandoffTestKit
import Testing

/// One after the other: they only compute, and other tests wait for the same two threads with time limits.
@Suite("Hours among peers", .serialized)
struct ProximitySimulationTests {
    private static let runsLong = getenv("HANDOFF_LONG_TESTS") != nil

    @Test("The right peer is first for 99 % of the time, and no two changes are within 5 s", arguments: 0..<2)
    func moving(scene: Int) {
        var simulation = ProximitySimulation.scenes.filter { !$0.isNoise }[scene].make(7)
        // One move, or an hour of them.
        let result = simulation.run(for: .seconds(Self.runsLong ? 3600 : 1300))
        #expect(result.share >= 0.99)
        #expect(result.switches.count >= 1)
        #expect(result.shortestHold.map { $0 >= .seconds(5) } ?? true)
        #expect(result.longestLag <= .seconds(20))
        #expect(result.pingRate < 1)
    }

    @Test("Nothing changes in noise among equals", arguments: 0..<5)
    func equals(scene: Int) {
        var simulation = ProximitySimulation.scenes.filter(\.isNoise)[scene].make(7)
        #expect(simulation.run(for: .seconds(Self.runsLong ? 36_000 : 300)).switches.isEmpty)
    }

    @Test("Spikes of power save alone never change the nearest of peers at 1, 5 and 20 ms")
    func powerSave() {
        var simulation = ProximitySimulation(
            seed: 3,
            places: { _ in [1, 5, 20].map { .init(milliseconds: $0) } },
            nearest: { _ in 0 }
        )
        let result = simulation.run(for: .seconds(Self.runsLong ? 36_000 : 300))
        #expect(result.switches.isEmpty)
        #expect(result.share > 0.99)
    }
}
