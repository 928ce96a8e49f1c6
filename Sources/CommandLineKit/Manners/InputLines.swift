import Dispatch

/// The lines of standard input, for programs that talk with their user.
///
/// A line is read when it is asked for, and not before. Made once in a process: it takes standard input and the signals
/// SIGINT and SIGTERM for itself.
public struct InputLines: Sendable {
    private let lines: AsyncThrowingStream<String, any Error>
    private let wanted = DispatchSemaphore(value: 0)

    /// Begins to listen for the signals.
    public static func open() async -> InputLines {
        InputLines(signals: await SignalStream.open())
    }

    private init(signals: SignalStream) {
        let (lines, continuation) = AsyncThrowingStream.makeStream(of: String.self)
        self.lines = lines
        // Both go on until the process ends, as standard input does.
        DispatchQueue(label: "handoff.input").async { [wanted] in
            repeat { wanted.wait() } while readLine().map { continuation.yield($0) } != nil
            continuation.finish()
        }
        Task {
            for await _ in signals { break }
            continuation.finish(throwing: CancellationError())
        }
    }

    /// The next line, without its end.
    ///
    /// - Returns: Nil where the input has ended (Ctrl-D).
    /// - Throws: `CancellationError` where a signal asked the program to end, or the task was cancelled.
    public func next() async throws -> String? {
        wanted.signal()
        var iterator = lines.makeAsyncIterator()
        let line = try await iterator.next()
        try Task.checkCancellation()
        return line
    }

    /// Waits until the input has ended or a signal arrives, whatever is typed meanwhile.
    public func end() async {
        while (try? await next()) != nil {}
    }
}
