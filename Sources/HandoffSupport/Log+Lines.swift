extension Log {
    /// A log of one text line an event: `level: message key=value key=value`.
    ///
    /// - Parameters:
    ///   - level: What matters less is dropped.
    ///   - write: Takes a line, without its end; values that came from a peer stand in it as they are.
    public static func lines(from level: LogLevel, to write: @escaping @Sendable (String) -> Void) -> Log {
        Log { lineLevel, message, metadata in
            guard lineLevel >= level else { return }
            write("\(lineLevel): \(message)" + metadata.map { " \($0.key)=\($0.value)" }.joined())
        }
    }
}
