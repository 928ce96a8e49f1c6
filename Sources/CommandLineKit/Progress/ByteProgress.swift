/// How far a work with bytes is: how much is done, how fast it goes, and how long it will take.
///
/// A value that is told the time, so that it can be tested and drawn anywhere.
public struct ByteProgress: Sendable, Equatable {
    private struct Sample: Sendable, Equatable {
        let completed: Int64
        let time: Duration
    }

    /// The span that the speed is measured over: long enough to be steady, short enough to follow the network.
    private static let window = Duration.seconds(5)
    /// How far apart the samples in it are.
    private static let spacing = Duration.milliseconds(250)

    /// What is worked on, for people.
    public let label: String
    /// How many bytes there are; zero where there is nothing to do.
    public let total: Int64
    /// How many bytes are done.
    public private(set) var completed: Int64
    private var samples: [Sample]
    private var newest: Sample

    /// Begins.
    ///
    /// - Parameters:
    ///   - label: What is worked on, for people; it may come from a peer.
    ///   - total: How many bytes there are.
    ///   - completed: How many bytes were done before: they say nothing about the speed.
    ///   - time: The time now, on a clock that only goes forward.
    public init(_ label: String, total: Int64, completed: Int64 = 0, at time: Duration) {
        self.label = label
        self.total = max(total, 0)
        self.completed = completed
        newest = Sample(completed: completed, time: time)
        samples = [newest]
    }

    /// Records how many bytes are done now.
    public mutating func advance(to completed: Int64, at time: Duration) {
        self.completed = min(max(completed, 0), total)
        newest = Sample(completed: self.completed, time: time)
        if let last = samples.last, time - last.time >= Self.spacing { samples.append(newest) }
        // One sample older than the window stays, as its beginning.
        while samples.count > 1, time - samples[1].time >= Self.window { samples.removeFirst() }
    }

    /// The speed of the last seconds; nil where there is too little to tell.
    public var bytesPerSecond: Double? {
        guard let oldest = samples.first else { return nil }
        let span = (newest.time - oldest.time) / .seconds(1)
        let bytes = newest.completed - oldest.completed
        return span >= 0.2 && bytes > 0 ? Double(bytes) / span : nil
    }

    /// How long the rest takes at that speed; nil where that is not known.
    public var timeLeft: Duration? {
        bytesPerSecond.map { .seconds((Double(total - completed) / $0).rounded(.up)) }
    }

    /// How much is done, in whole percent; 100 only at the end.
    public var percent: Int {
        completed < total ? min(99, Int(Double(completed) / Double(total) * 100)) : 100
    }

    /// One line that says all this.
    ///
    /// - Parameter width: The columns there are: what matters less is left out where they are few. Nil where nothing has
    ///   to be.
    public func line(width: Int?) -> String {
        let name = printable(label)
        let amount = completed < total ? "\(byteText(completed)) of \(byteText(total))" : byteText(total)
        let speed = bytesPerSecond.map { "\(byteText(Int64($0)))/s" }
        let rest = completed < total ? timeLeft.map { "\(durationText($0)) left" } : nil
        let percent = "\(percent) %"
        guard let width else { return [name, percent, amount, speed, rest].compactMap(\.self).joined(separator: "  ") }
        // The first that leaves the name enough room to be known by.
        let candidates = [
            [bar, percent, amount, speed, rest], [percent, amount, speed, rest], [percent, rest], [percent],
        ]
        let tails = candidates.map { $0.compactMap(\.self).joined(separator: "  ") }
        let wanted = min(displayWidth(name), 16)
        let tail = tails.first { wanted + 2 + displayWidth($0) <= width } ?? percent
        let room = width - displayWidth(tail) - 2
        guard room > 0 else { return truncated(tail, toWidth: width) }
        return truncated(name, toWidth: room) + "  " + tail
    }

    /// The part that is done, as a picture.
    private var bar: String {
        let cells = 20
        let done = min(cells, percent * cells / 100)
        return "[" + String(repeating: "#", count: done) + String(repeating: "-", count: cells - done) + "]"
    }
}
