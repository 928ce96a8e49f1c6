public import HandoffSupport

/// A TLS connection for bulk: bytes both ways as fast as the network takes them, in memory that does not grow.
///
/// One task reads and one task writes at a time; they may be two. Encrypting, decrypting and the socket's calls are
/// made by the task that asks, straight out of and into its own memory. None of them blocks: a task that has to wait
/// for the network is suspended, and one that never has to lets others run after each MiB.
///
/// Each direction ends by itself, with TLS's close_notify; an end without it is `truncated`. A stream on which nothing
/// moves for 30 s while a task waits for it ends as `timedOut`; one that nobody uses may be silent for ever.
public final class StreamConnection: Sendable {
    /// What the other end's certificate says.
    public let peer: PeerCertificate
    /// True where this end dialled.
    public let isDialler: Bool
    /// The other end's address.
    public let remoteAddress: SocketAddress
    /// This end's address.
    public let localAddress: SocketAddress

    /// How long nothing may move while a task waits.
    static let idleLimit = Duration.seconds(30)
    /// How much a task moves without a pause before it lets others run: 1 ms of work.
    private static let restAfter = 1 << 20

    private struct State {
        var core: StreamCore
        var reading = Direction()
        var writing = Direction()
        /// When something moved, or the first of the tasks that wait now began to.
        var lastEvent = Duration.zero
        var waiting = 0
        /// Runs while a task waits, and up to 30 s longer; ended by `deinit` at the latest.
        var watchdog: Task<Void, Never>?
        /// Ends the stream in order; nobody cancels it, its limits end it.
        var closing: Task<Void, Never>?
    }

    private struct Direction {
        var isBusy = false
        /// How much was moved since the task was last suspended.
        var sinceRest = 0
    }

    private let state: LockedBox<State>
    private let clock: MonotonicClock

    /// Takes over what a connection was made of.
    init(of connection: Connection, core: StreamCore, clock: MonotonicClock) {
        peer = connection.peer
        isDialler = connection.isDialler
        remoteAddress = connection.remoteAddress
        localAddress = connection.localAddress
        state = LockedBox(State(core: core))
        self.clock = clock
    }

    deinit { abort() }

    /// How much ciphertext waits in this process for the network.
    var pendingOutput: Int { state.withLock { $0.core.pendingOutput } }
    /// How many tasks wait for the network.
    var waitingCount: Int { state.withLock { $0.waiting } }
    /// Nil once the stream has ended.
    var socket: Socket? { state.withLock { $0.core.socket } }
}

// Reading
extension StreamConnection {
    /// Reads what has come into a buffer, waiting for something.
    ///
    /// - Parameter buffer: Where the bytes go, from its start. Its size is the most that is read; 0 is not allowed, and
    ///   64 KiB or more are fast.
    /// - Returns: How many bytes were read; 0 once the other end has said that it sends no more.
    /// - Throws: `TransportError`: `truncated` where the other end is gone without saying so, `timedOut` after 30 s in
    ///   which nothing moved, `closed` after `close` or `abort`. `CancellationError` when the task is cancelled; nothing
    ///   is lost then, and the next read goes on.
    public nonisolated(nonsending) func read(into buffer: inout [UInt8]) async throws -> Int {
        try await read(into: &buffer, from: 0)
    }

    /// Reads what has come into memory that the caller owns, waiting for something.
    ///
    /// - Parameter buffer: Stays where it is until this returns; otherwise as for `read(into:)` with an array.
    /// - Returns: How many bytes were read; 0 once the other end has said that it sends no more.
    /// - Throws: What `read(into:)` with an array throws.
    package nonisolated(nonsending) func read(into buffer: UnsafeMutableRawBufferPointer) async throws -> Int {
        precondition(!buffer.isEmpty, "a read needs room")
        try begin(\.reading, "one task reads at a time")
        defer { state.withLock { $0.reading.isBusy = false } }
        return try await run(\.reading) { core in try core.read(into: buffer) }
    }

    /// Reads exactly so many bytes, and takes none of those that follow.
    ///
    /// - Parameter count: How many; the memory for them is taken at once.
    /// - Returns: The bytes; nil where the other end has said, before the first of them, that it sends no more.
    /// - Throws: What `read(into:)` throws; `truncated` too where the end comes among them. The bytes that were read
    ///   before a cancellation are lost.
    public nonisolated(nonsending) func read(exactly count: Int) async throws -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: count)
        var filled = 0
        while filled < count {
            let added = try await read(into: &bytes, from: filled)
            if added == 0 {
                guard filled > 0 else { return nil }
                throw TransportError(.truncated, detail: "\(filled) of \(count) bytes came")
            }
            filled += added
        }
        return bytes
    }

    private nonisolated(nonsending) func read(into buffer: inout [UInt8], from start: Int) async throws -> Int {
        precondition(start < buffer.count, "a read needs room")
        try begin(\.reading, "one task reads at a time")
        defer { state.withLock { $0.reading.isBusy = false } }
        return try await run(\.reading) { core in
            try buffer.withUnsafeMutableBytes { bytes in
                try core.read(into: UnsafeMutableRawBufferPointer(rebasing: bytes[start...]))
            }
        }
    }
}

// Writing
extension StreamConnection {
    /// Writes bytes, and returns when the system has taken them all.
    ///
    /// No more than 48 KiB of them wait encrypted in this process, so a reader that is slow holds the writer up.
    ///
    /// - Parameter bytes: The bytes; where they lie in one piece, as those of an array, they are encrypted from there.
    ///   48 KiB or more at a time are fast.
    /// - Throws: `TransportError`: the other end's reason where it has refused us, `timedOut` after 30 s in which
    ///   nothing moved, `closed` after `finish`, `close` or `abort`. `CancellationError` when the task is cancelled; then
    ///   nothing more can be written, and the other end will read a truncation: a part never passes for the whole. What
    ///   the other end has sent can be read after any of them but `timedOut` and `closed`.
    public nonisolated(nonsending) func write(_ bytes: some Collection<UInt8>) async throws {
        guard bytes.withContiguousStorageIfAvailable({ _ in }) != nil else { return try await write(Array(bytes)) }
        try begin(\.writing, "one task writes at a time")
        defer { state.withLock { $0.writing.isBusy = false } }
        var rest = bytes[...]
        do {
            while true {
                let count = try await run(\.writing) { core in
                    try rest.withContiguousStorageIfAvailable { bytes in
                        try core.write(UnsafeRawBufferPointer(bytes))
                    } ?? .moved(0)
                }
                if count == 0 { return }
                rest = rest.dropFirst(count)
            }
        } catch {
            state.withLock { $0.core.breakWriting() }
            throw error
        }
    }

    /// Says that nothing more is written; the other end reads the end after all that came before.
    ///
    /// This end can still read. Saying it again does nothing.
    ///
    /// - Throws: What `write` throws; `CancellationError` when the task is cancelled, and it may be called again.
    public nonisolated(nonsending) func finish() async throws {
        try begin(\.writing, "finish comes after the last write")
        defer { state.withLock { $0.writing.isBusy = false } }
        _ = try await run(\.writing) { core in try core.finish() }
    }
}

// Ending
extension StreamConnection {
    /// Ends the stream in order: what was written is delivered, then close_notify, as by `finish`.
    ///
    /// What the other end still sends is read and dropped for at most a second or 32 KiB, because a socket that is
    /// closed with something unread is reset, and the reset overtakes the last bytes. It aborts where a write is under
    /// way or has failed. Reads and writes throw `closed` from then on. Whoever calls it again waits as well; a caller
    /// that is cancelled does not cut it short.
    public nonisolated(nonsending) func close() async {
        let closing = state.withLock { state in
            if let closing = state.closing { return closing }
            let isWriting = state.writing.isBusy
            let closing = Task(executorPreference: QuietExecutor.shared) {
                if !isWriting { await self.endInOrder() }
                self.abort()
            }
            state.closing = closing
            return closing
        }
        await closing.value
    }

    private nonisolated(nonsending) func endInOrder() async {
        guard (try? await run(\.writing) { core in try core.finish() }) != nil else { return }
        try? await withDeadline(Handshake.lingerLimit, clock: clock, timeoutError: TransportError(.timedOut)) {
            try await self.drain(Handshake.lingerInput)
        }
    }

    /// Reads to the other end's last byte, or until so many bytes have come.
    private nonisolated(nonsending) func drain(_ limit: Int) async throws {
        var scratch = [UInt8](repeating: 0, count: limit)
        var drained = 0
        while drained < limit {
            let count = try await run(\.reading) { core in
                try scratch.withUnsafeMutableBytes { try core.read(into: $0) }
            }
            if count == 0 { return }
            drained += count
        }
    }

    /// Ends the stream at once; what the system has not delivered yet may be lost, and the other end reads a truncation.
    ///
    /// Waiting reads and writes throw `closed`. After an end it does nothing.
    public func abort() {
        let watchdog = state.withLock { state in
            state.core.end(TransportError(.closed))
            return state.watchdog.take()
        }
        watchdog?.cancel()
    }
}

// Waiting
extension StreamConnection {
    private func begin(_ direction: WritableKeyPath<State, Direction>, _ rule: StaticString) throws {
        try state.withLock { state in
            if state.closing != nil { throw TransportError(.closed) }
            precondition(!state[keyPath: direction].isBusy, "\(rule)")
            state[keyPath: direction].isBusy = true
        }
    }

    /// Repeats a step until it has moved something.
    private nonisolated(nonsending) func run(
        _ direction: WritableKeyPath<State, Direction>,
        _ step: (inout StreamCore) throws -> StreamCore.Step
    ) async throws -> Int {
        while true {
            try Task.checkCancellation()
            let (outcome, isRestDue) = try state.withLock { state in
                let outcome = try step(&state.core)
                guard case .moved(let count) = outcome else { return (outcome, false) }
                state.lastEvent = clock.now
                state[keyPath: direction].sinceRest += count
                return (outcome, state[keyPath: direction].sinceRest >= Self.restAfter)
            }
            switch outcome {
            case .moved(let count):
                if isRestDue {
                    state.withLock { $0[keyPath: direction].sinceRest = 0 }
                    await Task.yield()
                }
                return count
            case .waits(let readiness):
                try await wait(until: readiness)
                state.withLock { $0[keyPath: direction].sinceRest = 0 }
            }
        }
    }

    /// Waits for the socket, which is also ready when the stream has ended.
    private nonisolated(nonsending) func wait(until readiness: Readiness) async throws {
        let socket = state.withLock { state in
            if state.waiting == 0 { state.lastEvent = clock.now }
            state.waiting += 1
            if state.watchdog == nil, state.core.socket != nil { state.watchdog = makeWatchdog() }
            return state.core.socket
        }
        defer { state.withLock { $0.waiting -= 1 } }
        try await socket?.wait(until: readiness)
        // Even if it is less than a record.
        state.withLock { $0.lastEvent = clock.now }
    }

    private func makeWatchdog() -> Task<Void, Never> {
        Task(executorPreference: QuietExecutor.shared) { [weak self, clock] in
            var pause = Self.idleLimit
            while (try? await clock.sleep(for: pause)) != nil, let next = self?.timeLeft() { pause = next }
        }
    }

    /// How long nothing has to move until those who wait have waited too long; nil where there is no more to watch.
    private func timeLeft() -> Duration? {
        state.withLock { state in
            let left = state.lastEvent + Self.idleLimit - clock.now
            if state.waiting > 0, state.core.socket != nil {
                if left > .zero { return left }
                state.core.end(TransportError(.timedOut, detail: "nothing moved for \(Self.idleLimit)"))
            }
            state.watchdog = nil
            return nil
        }
    }
}
