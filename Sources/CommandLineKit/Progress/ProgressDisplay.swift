/// Shows how far works with bytes are, one after the other, at a pace that its reader can follow.
///
/// On a terminal, a line on stderr is drawn anew until it is done, and is gone then. Elsewhere there are plain lines on
/// stderr, every few seconds and at the end, and none for what is done in a moment. For programs there are events on
/// stdout, one JSON object a line.
public struct ProgressDisplay: Sendable {
    /// What a program is told.
    public struct Event: Encodable, Sendable, Equatable {
        /// What kind of event it is.
        public let event = "progress"
        /// What is worked on, exactly as it is called.
        public let name: String
        /// What is done with it.
        public let stage: String
        /// How many bytes are done.
        public let completed: Int64
        /// How many bytes there are.
        public let total: Int64

        private enum CodingKeys: String, CodingKey { case event, name, stage, completed, total }
    }

    /// Where the display is seen.
    public enum Medium: Sendable, Equatable {
        /// A line that is drawn anew, of so many columns.
        case redrawn(width: Int)
        /// Lines, one below the other.
        case lines
        /// JSON.
        case events

        /// What fits a terminal, or what stands in its place.
        public static func on(_ terminal: Terminal) -> Medium {
            guard let width = terminal.width, terminal.redraws else { return .lines }
            return .redrawn(width: width - 1)
        }

        /// How long a work goes on before it is shown at all, so that short ones don't flicker.
        fileprivate var patience: Duration {
            switch self {
            case .redrawn: .milliseconds(300)
            case .lines: .seconds(5)
            case .events: .milliseconds(500)
            }
        }

        /// The least time between two showings.
        fileprivate var pace: Duration {
            switch self {
            case .redrawn: .milliseconds(100)
            case .lines: .seconds(5)
            case .events: .milliseconds(500)
            }
        }
    }

    private let medium: Medium
    private let now: @Sendable () -> Duration
    private var current: (name: String, stage: String, progress: ByteProgress, due: Duration, isShown: Bool)?

    /// Makes a display that shows nothing yet.
    ///
    /// - Parameters:
    ///   - medium: Where it is seen.
    ///   - now: A clock that only goes forward; nil for the system's.
    public init(_ medium: Medium, now: (@Sendable () -> Duration)? = nil) {
        self.medium = medium
        let start = SuspendingClock.now
        self.now = now ?? { start.duration(to: .now) }
    }

    /// Shows how far a work is, if it is time to.
    ///
    /// - Parameters:
    ///   - name: What is worked on; another name or stage ends the work before.
    ///   - stage: What is done with it, a word: "checking".
    ///   - completed: How many bytes are done.
    ///   - total: How many bytes there are.
    public mutating func show(_ name: String, stage: String, completed: Int64, total: Int64) {
        write(output(name, stage: stage, completed: completed, total: total))
    }

    /// Ends what is shown; the next call of ``show(_:stage:completed:total:)`` begins anew.
    public mutating func end() {
        write(ending())
    }

    /// What is to be written for a work; empty where it is not time.
    mutating func output(_ name: String, stage: String, completed: Int64, total: Int64) -> String {
        let time = now()
        var text = ""
        if current?.name != name || current?.stage != stage || current?.progress.total != total {
            text = ending()
            let progress = ByteProgress("\(stage) \(name)", total: total, completed: completed, at: time)
            current = (name, stage, progress, time + medium.patience, false)
        }
        current?.progress.advance(to: completed, at: time)
        guard let due = current?.due, time >= due else { return text }
        current?.due = time + medium.pace
        current?.isShown = true
        return text + drawn()
    }

    /// What is to be written when a work is over.
    mutating func ending() -> String {
        defer { current = nil }
        guard let current, current.isShown else { return "" }
        switch medium {
        case .redrawn: return "\r\u{1B}[K"
        case .lines, .events: return drawn()
        }
    }

    private func drawn() -> String {
        guard let current else { return "" }
        switch medium {
        case .redrawn(let width): return "\r\u{1B}[K" + current.progress.line(width: width)
        case .lines: return current.progress.line(width: nil) + "\n"
        case .events:
            let event = Event(
                name: current.name,
                stage: current.stage,
                completed: current.progress.completed,
                total: current.progress.total
            )
            return (try? StandardOutput.jsonLine(event)).map { String(decoding: $0, as: UTF8.self) } ?? ""
        }
    }

    private func write(_ text: String) {
        guard !text.isEmpty else { return }
        guard medium == .events else { return StandardError.write(text) }
        // Whoever does not read on still wants the work to be done.
        try? StandardOutput.write(text)
    }
}
