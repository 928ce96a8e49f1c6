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
        try await OneShotSource(makeSource(for: descriptor, queue: QuietExecutor.shared.queue)).wait(keeping: owner)
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
}
