/// How strong a radio signal is, in zones: metres cannot be told from it, as 10 dB come and go with a body in between.
public enum ProximityZone: Int, Sendable, Hashable, Comparable {
    /// Over -55 dBm: on the same table.
    case immediate
    /// To -70 dBm: in the same room.
    case near
    /// Below.
    case far

    /// A zone is left where the signal is 4 dB past its bound.
    ///
    /// Of dBm with the sign turned, so that far is more.
    private static let scale = Scale(
        bounds: [55.0, 70.0].map { Scale<Double>.Bound(lower: $0 - 4, middle: $0, upper: $0 + 4) }
    )

    /// The zone of a signal.
    ///
    /// - Parameters:
    ///   - level: In dBm.
    ///   - previous: The zone before, which is kept where the signal is less than 4 dB past its bound.
    public init(level: Double, after previous: ProximityZone? = nil) {
        self = ProximityZone(rawValue: Self.scale.step(of: -level, after: previous?.rawValue)) ?? .far
    }

    /// The order from near to far.
    public static func < (left: ProximityZone, right: ProximityZone) -> Bool { left.rawValue < right.rawValue }
}

/// A signal's strength, smoothed.
public struct SignalReading: Hashable, Sendable {
    /// In dBm.
    public let level: Double
    /// Its zone, which is not left for noise at a bound.
    public let zone: ProximityZone
    /// When the last of the samples came, on the receiving host's clock.
    public let time: Duration

    /// Makes a reading.
    ///
    /// - Parameters:
    ///   - level: In dBm.
    ///   - previous: The zone of the reading before.
    ///   - time: When it was received.
    public init(level: Double, after previous: ProximityZone? = nil, time: Duration = .zero) {
        self.level = level
        self.time = time
        zone = ProximityZone(level: level, after: previous)
    }
}

/// Makes a steady reading of the RSSI samples of one peer: the median of the last 4 s, then a moving average.
///
/// Pure: time is passed in. docs/proximity.md, "Signal", has the sources of the figures.
public struct SignalFilter: Sendable {
    /// The span of the median: somebody who passes, for 2 s, is less than half of it and does not count.
    private static let span = Duration.milliseconds(4250)
    /// The part of a new median in the average.
    private static let weight = 0.5
    /// So many samples within the span make a first reading.
    private static let minimumCount = 3
    /// No more are kept, whatever a radio reports.
    private static let maximumCount = 64
    /// A peer that was not heard for so long has no reading, and starts anew.
    private static let expiry = Duration.seconds(10)

    private var recent: [(level: Double, time: Duration)] = []
    private var level: Double?
    private var last: SignalReading?

    /// Starts without a reading.
    public init() {}

    /// Takes a sample.
    ///
    /// - Parameters:
    ///   - rssi: In dBm; what radios report where they know nothing (127, 0, anything positive) is dropped.
    ///   - now: When it came.
    public mutating func add(_ rssi: Int, at now: Duration) {
        guard rssi < 0 else { return }
        if let time = recent.last?.time, now - time > Self.expiry { self = SignalFilter() }
        recent = recent.suffix(Self.maximumCount - 1).filter { now - $0.time < Self.span } + [(Double(rssi), now)]
        let sorted = recent.map(\.level).sorted()
        let median = sorted[sorted.count / 2]
        let smoothed = level.map { $0 + (median - $0) * Self.weight } ?? median
        level = smoothed
        guard last != nil || recent.count >= Self.minimumCount else { return }
        last = SignalReading(level: smoothed, after: last?.zone, time: now)
    }

    /// What the samples say.
    ///
    /// - Returns: Nil where there were too few, or the last one is too old.
    public func reading(at now: Duration) -> SignalReading? {
        last.flatMap { now - $0.time <= Self.expiry ? $0 : nil }
    }
}
