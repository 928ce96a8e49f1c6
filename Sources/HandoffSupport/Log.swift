/// How much a line of the log matters.
public enum LogLevel: Int, Comparable, Sendable, CaseIterable {
    /// What only somebody who looks for a fault wants to see.
    case debug
    /// What happened, at most a few lines an hour.
    case info
    /// What somebody should look at.
    case warning
    /// What stopped working.
    case error

    /// The order of importance.
    public static func < (left: LogLevel, right: LogLevel) -> Bool { left.rawValue < right.rawValue }
}

/// Where the library's log lines go; it is given from outside and writes nothing by itself.
///
/// Messages carry no payload, no title and no key material.
public struct Log: Sendable {
    private let sink: @Sendable (LogLevel, String, [(key: String, value: String)]) -> Void

    /// Makes a log from the function that takes its lines: level, message, and metadata with dotted keys.
    public init(_ sink: @escaping @Sendable (LogLevel, String, [(key: String, value: String)]) -> Void) {
        self.sink = sink
    }

    /// A log that drops every line.
    public static let none = Log { _, _, _ in }

    /// Writes one line.
    ///
    /// - Parameters:
    ///   - level: How much it matters.
    ///   - message: One line, the same words for the same kind of event.
    ///   - metadata: What differs from event to event, under dotted keys such as `peer.machine`.
    public func callAsFunction(_ level: LogLevel, _ message: String, _ metadata: KeyValuePairs<String, String> = [:]) {
        sink(level, message, metadata.map { ($0.key, $0.value) })
    }
}
