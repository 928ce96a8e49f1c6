import CommandLineKit
import HandoffTestKit

/// `handoff-bench proximity`: simulated hours, and how often the right peer was the nearest in them.
struct ProximityBenchmark {
    private static let requiredShare = 0.99
    private static let requiredHold = Duration.seconds(5)

    let seeds: Int

    init(_ arguments: Arguments) throws {
        seeds = try arguments.number("hours", in: 1...1000) ?? 3
    }

    func run() throws -> ExitCode {
        var table = Table(columns: [
            Table.Column("SCENE"), Table.Column("RIGHT", isNumeric: true), Table.Column("CHANGES", isNumeric: true),
            Table.Column("SHORTEST HOLD", isNumeric: true), Table.Column("LONGEST LAG", isNumeric: true),
            Table.Column("PINGS/S", isNumeric: true), Table.Column("AS IT SHOULD"),
        ])
        var isRight = true
        for scene in ProximitySimulation.scenes {
            let results = (1...seeds).map { seed in
                var simulation = scene.make(UInt64(seed))
                return simulation.run(for: .seconds(3600))
            }
            let share = results.map(\.share).min() ?? 0
            let changes = results.map(\.switches.count).max() ?? 0
            let hold = results.compactMap(\.shortestHold).min()
            let isFine =
                scene.isNoise
                ? changes == 0 : share >= Self.requiredShare && (hold ?? Self.requiredHold) >= Self.requiredHold
            isRight = isRight && isFine
            table.append([
                scene.name, scene.isNoise ? "-" : "\(Self.tenths(share * 100)) %", "\(changes)",
                hold.map { "\(Self.tenths($0 / .seconds(1))) s" } ?? "-",
                scene.isNoise ? "-" : "\(Self.tenths((results.map(\.longestLag).max() ?? .zero) / .seconds(1))) s",
                Self.tenths(results.map(\.pingRate).max() ?? 0), isFine ? "yes" : "no",
            ])
        }
        try StandardOutput.write(table.text(width: nil))
        return isRight ? .done : .failed
    }

    /// One decimal, cut, so that nothing looks better than it is.
    private static func tenths(_ value: Double) -> String {
        let tenths = Int(value * 10)
        return "\(tenths / 10).\(tenths % 10)"
    }
}
