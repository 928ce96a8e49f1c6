public import FoundationEssentials

/// How far the clocks of two machines are apart, as far as certificates can bear it.
public struct ClockDifference: Hashable, Sendable, CustomStringConvertible {
    /// The largest difference at which a machine is enrolled: certificates begin an hour before they are issued, and a
    /// minute is for clocks that were set by hand.
    public static let limit = Duration.seconds(61 * 60)

    /// How far the other clock is ahead, in whole seconds; negative where it is behind.
    public let seconds: Int64

    /// Compares two clocks.
    public init(ours: Date, theirs: Date) {
        seconds = Int64(exactly: theirs.timeIntervalSince(ours).rounded()) ?? .max
    }

    /// Whether certificates would be taken for expired or not yet valid.
    public var isTooLarge: Bool { Duration.seconds(seconds.magnitude) > Self.limit }

    /// The difference in words, without its direction: `1 day 2 hours`.
    public var description: String {
        let units = [(24 * 60 * 60, "day"), (60 * 60, "hour"), (60, "minute"), (1, "second")]
        var rest = seconds.magnitude
        var parts: [String] = []
        for (size, name) in units where rest >= UInt64(size) && parts.count < 2 {
            let count = rest / UInt64(size)
            rest %= UInt64(size)
            parts.append("\(count) \(name)\(count == 1 ? "" : "s")")
        }
        return parts.isEmpty ? "no second" : parts.joined(separator: " ")
    }
}
