/// How far away a round-trip time is: times of one class are equal, what lies between them is noise.
///
/// Round trips tell media apart rather than metres: wired ones take up to 1 ms, those over Wi-Fi 2 to 10 ms, those to
/// another site more (docs/proximity.md, "Latency").
public enum LatencyClass: Int, Sendable, Hashable, Comparable {
    /// Up to 2 ms.
    case upTo2Milliseconds = 1
    /// Up to 8 ms.
    case upTo8Milliseconds
    /// Up to 30 ms.
    case upTo30Milliseconds
    /// More than 30 ms, or never measured.
    case more

    /// A class is left where a time is a quarter past its bound.
    private static let scale = Scale(
        bounds: [2.0, 8.0, 30.0].map { milliseconds in
            Scale<Duration>.Bound(
                lower: .milliseconds(milliseconds / 1.25),
                middle: .milliseconds(milliseconds),
                upper: .milliseconds(milliseconds * 1.25)
            )
        }
    )

    /// The class of a round-trip time.
    ///
    /// - Parameters:
    ///   - latency: The time.
    ///   - previous: The class before, which is kept where the time is less than a quarter past its bound.
    public init(_ latency: Duration, after previous: LatencyClass? = nil) {
        let step = Self.scale.step(of: latency, after: previous.map { $0.rawValue - 1 })
        self = LatencyClass(rawValue: step + 1) ?? .more
    }

    /// The order from near to far.
    public static func < (left: LatencyClass, right: LatencyClass) -> Bool { left.rawValue < right.rawValue }
}

/// A round-trip time as it was measured.
public struct LatencyReading: Hashable, Sendable {
    /// The shortest of the last bursts.
    public let value: Duration
    /// Its class, which is not left for noise at a bound.
    public let latencyClass: LatencyClass
    /// How many bursts it rests on; none where only single pings were answered.
    public let burstCount: Int
    /// When the last of them ended, on the measuring host's clock.
    public let time: Duration

    /// Makes a reading.
    ///
    /// - Parameters:
    ///   - value: The round-trip time.
    ///   - previous: The class of the reading before.
    ///   - burstCount: How many bursts it rests on.
    ///   - time: When it was measured.
    public init(
        _ value: Duration,
        after previous: LatencyClass? = nil,
        burstCount: Int = 1,
        time: Duration = .zero
    ) {
        self.value = value
        self.burstCount = burstCount
        self.time = time
        latencyClass = LatencyClass(value, after: previous)
    }
}
