import Dispatch
import Glibc

/// The signals that ask a program to end, as an asynchronous sequence.
///
/// While it exists these signals do nothing else.
public struct SignalStream: AsyncSequence, Sendable {
    /// The signals that ask a program to end: SIGINT and SIGTERM.
    public static let terminating: [Int32] = [SIGINT, SIGTERM]

    private let signals: AsyncStream<Int32>

    /// Starts to listen, and returns when no signal can be missed any more.
    ///
    /// Ignores SIGPIPE first: a disposition that is changed after a source was registered silently ends its delivery.
    ///
    /// - Parameter numbers: The signals to listen for.
    public static func open(_ numbers: [Int32] = terminating) async -> SignalStream {
        ignoreBrokenPipes()
        // A few are enough: a program ends at the first, or at the second where the user is impatient.
        let (signals, continuation) = AsyncStream.makeStream(of: Int32.self, bufferingPolicy: .bufferingOldest(8))
        let queue = DispatchQueue(label: "handoff.signals")
        let sources = numbers.map { DispatchSource.makeSignalSource(signal: $0, queue: queue) }
        for (number, source) in zip(numbers, sources) {
            source.setEventHandler { @Sendable in continuation.yield(number) }
            await withCheckedContinuation { registered in
                source.setRegistrationHandler { @Sendable in registered.resume() }
                source.activate()
            }
        }
        let owned = Sources(sources)
        continuation.onTermination = { _ in owned.cancel() }
        return SignalStream(signals: signals)
    }

    /// Makes writing to a pipe without a reader an error (EPIPE) instead of the program's end.
    public static func ignoreBrokenPipes() {
        signal(SIGPIPE, SIG_IGN)
    }

    /// The numbers of the signals that arrive.
    public func makeAsyncIterator() -> AsyncStream<Int32>.Iterator {
        signals.makeAsyncIterator()
    }

    private final class Sources: @unchecked Sendable {  // never changed, and a source may be cancelled on any thread
        private let sources: [any DispatchSourceSignal]

        init(_ sources: [any DispatchSourceSignal]) {
            self.sources = sources
        }

        func cancel() {
            for source in sources { source.cancel() }
        }
    }
}
