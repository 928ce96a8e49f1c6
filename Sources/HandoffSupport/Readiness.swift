public import Dispatch

/// What a file descriptor can be waited for.
public enum Readiness: Sendable {
    /// There is something to read, or the end.
    case readable
    /// There is room to write.
    case writable

    /// Waits once until a descriptor is ready.
    ///
    /// - Parameters:
    ///   - descriptor: The descriptor, lent until this returns.
    ///   - owner: Who closes it; kept alive until the kernel has let go of it.
    /// - Throws: `CancellationError` when the task is cancelled.
    public func wait(for descriptor: CInt, of owner: some AnyObject & Sendable) async throws {
        let source = OneShot(makeSource(for: descriptor, queue: .global()))
        await withTaskCancellationHandler {
            await withCheckedContinuation { source.activate(owner: owner, continuation: $0) }
        } onCancel: {
            source.cancel()
        }
        try Task.checkCancellation()
    }

    /// Makes a source that is neither given its handlers nor activated.
    ///
    /// - Parameters:
    ///   - descriptor: The descriptor; it may be closed only after the source's cancel handler has run.
    ///   - queue: Where the handlers run.
    public func makeSource(for descriptor: CInt, queue: DispatchQueue) -> any DispatchSourceProtocol {
        switch self {
        case .readable: DispatchSource.makeReadSource(fileDescriptor: descriptor, queue: queue)
        case .writable: DispatchSource.makeWriteSource(fileDescriptor: descriptor, queue: queue)
        }
    }

    /// A source whose first event ends it.
    ///
    /// Both an event and a cancellation lead through its cancel handler, which runs once: so the waiting task is
    /// resumed exactly once, and not before the kernel has let go of the descriptor.
    private final class OneShot: @unchecked Sendable {  // Dispatch sources may be cancelled from any thread
        private let source: any DispatchSourceProtocol

        init(_ source: any DispatchSourceProtocol) { self.source = source }

        func activate(owner: some AnyObject & Sendable, continuation: CheckedContinuation<Void, Never>) {
            source.setEventHandler { self.source.cancel() }
            source.setCancelHandler {
                withExtendedLifetime(owner) { continuation.resume() }
            }
            source.activate()
        }

        func cancel() { source.cancel() }
    }
}
