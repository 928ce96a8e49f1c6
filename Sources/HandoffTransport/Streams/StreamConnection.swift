public import HandoffSupport

/// A TLS connection for bulk: bytes both ways as fast as the network takes them, in memory that does not grow.
///
/// One task reads and one task writes at a time; they may be two. Encrypting, decrypting and the socket's calls are made
/// by the task that asks, straight from and into its own memory, and none of them blocks: a task that has to wait for
/// the network is suspended. Each direction ends by itself with TLS's close_notify. An end without it is `truncated`.
///
/// A stream on which nothing moves for 30 s while somebody reads or writes ends as `timedOut`; one that nobody uses may
/// be silent for as long as it likes.
public final class StreamConnection: Sendable {
    /// What the other end's certificate says.
    public let peer: PeerCertificate
    /// True where this end dialled.
    public let isDialler: Bool
    /// The other end's address.
    public let remoteAddress: SocketAddress
    /// This end's address.
    public let localAddress: SocketAddress

    /// How long nothing may move while somebody waits.
    static let idleLimit = Duration.seconds(30)

    private let core: LockedBox<StreamCore>
    private let clock: MonotonicClock

    init(connection: Connection, core: StreamCore, clock: MonotonicClock) {
        peer = connection.peer
        isDialler = connection.isDialler
        remoteAddress = connection.remoteAddress
        localAddress = connection.localAddress
        self.core = LockedBox(core)
        self.clock = clock
    }

    deinit { abort() }

    /// Reads what has come into a buffer, waiting for something.
    ///
    /// - Parameter buffer: Where the bytes go, from its start; its size, which must not be 0, is the most that is read.
    ///   256 KiB are the fastest.
    /// - Returns: How many bytes were read; 0 once the other end has said that it sends no more.
    /// - Throws: `TransportError`: `truncated` where the other end is gone without saying so, `timedOut` after 30 s in
    ///   which nothing moved, `closed` after `close` or `abort`. `CancellationError` when the task is cancelled; nothing
    ///   is lost then, and the next read goes on.
    public nonisolated(nonsending) func read(into buffer: inout [UInt8]) async throws -> Int {
        precondition(!buffer.isEmpty, "a read needs room")
        while true {
            try Task.checkCancellation()
            let step = try buffer.withUnsafeMutableBytes { bytes in
                try core.withLock { core in try core.read(into: bytes) }
            }
            switch step {
            case .moved(let count): return count
            case .waits(let readiness): try await wait(until: readiness)
            }
        }
    }

    /// Writes bytes, waiting until the network has taken all but the last 256 KiB at most.
    public nonisolated(nonsending) func write(_ bytes: ArraySlice<UInt8>) async throws {
        var rest = bytes
        while !rest.isEmpty {
            try Task.checkCancellation()
            let step = try rest.withUnsafeBytes { bytes in
                try core.withLock { core in try core.write(bytes) }
            }
            switch step {
            case .moved(let count): rest = rest.dropFirst(count)
            case .waits(let readiness): try await wait(until: readiness)
            }
        }
    }

    /// Writes
    public nonisolated(nonsending) func write(_ bytes: [UInt8]) async throws {
        try await write(bytes[...])
    }

    /// Finish
    public nonisolated(nonsending) func finish() async throws {
        while case .waits(let readiness) = try core.withLock({ core in try core.finish() }) {
            try await wait(until: readiness)
        }
    }

    /// Abort
    public func abort() {
        _ = core.withLock { $0.end(TransportError(.closed)) }
    }

    private nonisolated(nonsending) func wait(until readiness: Readiness) async throws {
        guard let socket = core.withLock({ $0.socket }) else { return }
        try await socket.wait(until: readiness)
    }
}
