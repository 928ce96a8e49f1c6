import Dispatch
import Glibc
public import HandoffSupport

/// A TLS connection to another machine whose certificate is of our account: plaintext in, plaintext out.
///
/// At the end that dialled, the handshake is over before the other end has judged our certificate; its refusal is
/// thrown by the first `read`. One task reads at a time; writes may come from any.
public actor Connection {
    /// What the other end's certificate says.
    public nonisolated let peer: PeerCertificate
    /// The application protocol (ALPN) that was agreed on.
    public nonisolated let applicationProtocol: String
    /// True where this end dialled.
    public nonisolated let isDialler: Bool
    /// The other end's address.
    public nonisolated let remoteAddress: SocketAddress
    /// This end's address.
    public nonisolated let localAddress: SocketAddress

    /// Output that waits for the network beyond this holds writers up: 1 ms of a gigabit network, and 16 TLS records.
    static let highWater = 256 * 1024
    /// How long `close` waits for the network to take what was written; the delivery time-out of the socket.
    static let closeLimit = Socket.deliveryTimeout

    private let executor = QueueExecutor(label: "handoff.connection")
    private let clock: MonotonicClock
    private let engine: TLSEngine
    /// Nil once the connection has ended.
    private var socket: Socket?
    private let sources: EventSources
    /// Why the connection has ended; reads and writes throw it.
    private var failure: TransportError?
    /// Plaintext that was read ahead of its reader, while a failed write was looking for the other end's reason.
    private var unread: [[UInt8]] = []
    private var closing: Task<Void, Never>?
    private var isClosing: Bool { closing != nil }
    private var receiveSize = Connection.smallestReceive
    private var reader: Waiter?
    private var writers: [Waiter] = []
    private var nextWaiter: UInt64 = 0

    private static let smallestReceive = 16 * 1024
    private static let largestReceive = TLSEngine.largestRead

    private struct Waiter {
        let id: UInt64
        /// Nil once it was woken; until it runs it keeps its place, so that no later writer overtakes it.
        var continuation: CheckedContinuation<Void, any Error>?
    }

    /// Takes over a socket and an engine whose handshake is over.
    init(
        socket: Socket,
        engine: sending TLSEngine,
        remoteAddress: SocketAddress,
        localAddress: SocketAddress,
        clock: MonotonicClock
    ) {
        guard let peer = engine.peer else { preconditionFailure("a connection begins after the handshake") }
        self.peer = peer
        applicationProtocol = engine.applicationProtocol
        isDialler = engine.isClient
        self.engine = engine
        self.socket = socket
        self.remoteAddress = remoteAddress
        self.localAddress = localAddress
        self.clock = clock
        sources = EventSources(socket: socket, queue: executor.queue)
    }

    deinit {
        let sources = sources
        executor.queue.async { sources.cancel() }
    }

    /// The connection's own queue: TLS and socket calls stay off the cooperative pool.
    public nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }
}

extension Connection {
    /// Turns the connection into a stream for bulk, which goes on at the very byte.
    ///
    /// The connection itself is closed from then on. Nothing may have been read, and no task may be reading or writing:
    /// this is the first thing that is done with a connection whose protocol is that of streams.
    ///
    /// - Throws: `TransportError` where the connection has ended.
    public func makeStream() throws -> StreamConnection {
        precondition(reader == nil && writers.isEmpty && unread.isEmpty, "the connection is in use")
        if isClosing { throw TransportError(.closed) }
        guard let socket else { throw failure ?? TransportError(.closed) }
        failure = TransportError(.closed)
        sources.cancel()
        self.socket = nil
        return StreamConnection(of: self, core: StreamCore(engine: engine, socket: socket), clock: clock)
    }
}

// Reading
extension Connection {
    /// Reads what has come, waiting for something.
    ///
    /// - Returns: Plaintext, at most 256 KiB and never empty; nil once the other end has said that it sends no more.
    /// - Throws: `TransportError`: `truncated` where the other end is gone without saying so, its reason where it has
    ///   refused us, `closed` after `close` or `abort`. `CancellationError` when the task is cancelled; nothing is lost
    ///   then, and the next read goes on.
    public func read() async throws -> [UInt8]? {
        precondition(reader == nil, "one task reads at a time")
        while true {
            if !unread.isEmpty { return unread.removeFirst() }
            if let failure { throw failure }
            if isClosing { throw TransportError(.closed) }
            switch try decrypt() {
            case .bytes(let bytes): return bytes
            case .closed: return nil
            case .wantsInput: break
            }
            guard let socket else { throw TransportError(.closed) }
            if try !receive(from: socket) {
                engine.input.releaseIfEmpty()
                try await waitForInput()
            }
        }
    }

    /// Decrypts what is here; a failure ends the connection.
    private func decrypt() throws -> TLSEngine.Incoming {
        do {
            let incoming = try engine.read()
            flush()  // an answer to a key update, say
            return incoming
        } catch let error as TransportError {
            flush()
            end(error)
            throw error
        }
    }

    /// Takes what the socket has; false where it has nothing yet.
    private func receive(from socket: Socket) throws -> Bool {
        switch engine.input.receive(atMost: receiveSize, from: socket) {
        case .bytes(0):
            throw end(TransportError(.truncated))
        case .bytes(let count):
            // Small while little comes, so that an idle connection is small, and large for bulk.
            receiveSize = count == receiveSize ? min(count * 4, Self.largestReceive) : max(count, Self.smallestReceive)
            return true
        case .wouldBlock:
            return false
        case .failed(let cause):
            throw end(TransportError(lost: cause))
        }
    }

    private func waitForInput() async throws {
        nextWaiter += 1
        let id = nextWaiter
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                reader = Waiter(id: id, continuation: continuation)
                sources.awaitReadable { [weak self] in self?.assumeIsolated { $0.resumeReader() } }
            }
        } onCancel: {
            // On the queue, so that it comes after the continuation was stored.
            executor.queue.async { self.assumeIsolated { $0.cancelReader(id) } }
        }
    }

    private func resumeReader() {
        defer { reader = nil }
        reader?.continuation?.resume()
    }

    private func cancelReader(_ id: UInt64) {
        guard let waiter = reader, waiter.id == id else { return }
        reader = nil
        waiter.continuation?.resume(throwing: CancellationError())
    }
}

// Writing
extension Connection {
    /// Writes bytes as one piece, never mixed with those of another write.
    ///
    /// It waits first until less than 256 KiB wait for the network, and afterwards again. So what waits is bounded by
    /// that and the size of the writes under way: keep each below about 1 MiB.
    ///
    /// - Throws: `TransportError` where the connection has ended or ends. `CancellationError` when the task is
    ///   cancelled: the bytes go out as a whole or not at all.
    public func write(_ bytes: [UInt8]) async throws {
        try Task.checkCancellation()
        try await waitForRoom()
        try checkOpen()
        do {
            try bytes.withUnsafeBytes { bytes in
                for start in stride(from: 0, to: bytes.count, by: Self.highWater) {
                    if let failure { throw failure }
                    let end = min(start + Self.highWater, bytes.count)
                    try engine.write(UnsafeRawBufferPointer(rebasing: bytes[start..<end]))
                    flush()
                }
            }
        } catch let error as TransportError {
            throw end(error)
        }
        try await waitForRoom()
        if let failure { throw failure }
    }

    /// Says that nothing more is written; the other end's `read` returns nil after all that came before.
    ///
    /// This end can still read.
    ///
    /// - Throws: `TransportError` where the connection has ended.
    public func finishWriting() throws {
        if let failure { throw failure }
        engine.close()
        flush()
    }

    /// How much ciphertext waits for the network.
    var pendingOutput: Int { engine.output.count }

    private func checkOpen() throws {
        if let failure { throw failure }
        if isClosing || engine.hasSentClose { throw TransportError(.closed) }
    }

    /// Sends what the kernel takes now, and has the rest sent when it takes more.
    private func flush() {
        guard let socket else { return }
        while pendingOutput > 0 {
            switch socket.send(engine.output.bytes) {
            case .bytes(let count):
                engine.output.drop(count)
            case .wouldBlock:
                sources.beginWritable { [weak self] in self?.assumeIsolated { $0.flush() } }
                if pendingOutput < Self.highWater { resumeFirstWriter() }
                return
            case .failed(let cause):
                end(reason(behind: TransportError(lost: cause), on: socket))
                return
            }
        }
        engine.output.releaseIfEmpty()
        sources.endWritable()
        resumeFirstWriter()
    }

    /// A write that failed because the other end has closed: its reason may wait to be read.
    private func reason(behind error: TransportError, on socket: Socket) -> TransportError {
        _ = engine.input.receive(atMost: Handshake.lingerInput, from: socket)
        do {
            while case .bytes(let bytes) = try engine.read() { unread.append(bytes) }
            return error
        } catch let reason {
            return reason as? TransportError ?? error
        }
    }

    private func waitForRoom() async throws {
        guard failure == nil, pendingOutput >= Self.highWater || !writers.isEmpty else { return }
        nextWaiter += 1
        let id = nextWaiter
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                writers.append(Waiter(id: id, continuation: continuation))
            }
        } onCancel: {
            executor.queue.async { self.assumeIsolated { $0.cancelWriter(id) } }
        }
        writers.removeAll { $0.id == id }
        // One writer was woken; while there is still room the next one may follow.
        if pendingOutput < Self.highWater { resumeFirstWriter() }
    }

    private func resumeFirstWriter() {
        guard let first = writers.first else { return }
        writers[0].continuation = nil
        first.continuation?.resume()
    }

    private func cancelWriter(_ id: UInt64) {
        guard let index = writers.firstIndex(where: { $0.id == id && $0.continuation != nil }) else { return }
        writers.remove(at: index).continuation?.resume(throwing: CancellationError())
        // Its place was perhaps the one that was held for it.
        if engine.output.count < Self.highWater { resumeFirstWriter() }
    }
}

// Ending
extension Connection {
    /// Ends the connection in order: what was written is delivered, then close_notify.
    ///
    /// The writing side is shut, and what the other end still sends is read for at most a second or 32 KiB, because a
    /// socket that is closed with something unread is reset, and the reset overtakes the last bytes. A network that
    /// takes nothing for 20 s is given up. A waiting read throws `closed`. Whoever calls it again waits as well.
    public func close() async {
        guard failure == nil else { return }
        if closing == nil {
            // A task of its own, so that a cancelled caller still closes in order; nobody cancels it, its limits end it.
            closing = Task(executorPreference: QuietExecutor.shared) { await self.closeInOrder() }
            resumeReader()
        }
        await closing?.value
    }

    /// Ends the connection at once; what was written and not yet sent is lost, and the other end sees a truncation.
    ///
    /// Waiting reads and writes throw `closed`.
    public nonisolated func abort() {
        executor.queue.async { self.assumeIsolated { _ = $0.end(TransportError(.closed)) } }
    }

    private func closeInOrder() async {
        engine.close()
        flush()
        let delivery = clock.now + Self.closeLimit
        while pendingOutput > 0, await settles(.writable, until: delivery) { flush() }
        socket?.shutDownWriting()
        let linger = clock.now + Handshake.lingerLimit
        var drained = 0
        while drained < Handshake.lingerInput, let socket {
            engine.input.drop(engine.input.count)
            switch engine.input.receive(atMost: Self.smallestReceive, from: socket) {
            case .bytes(let count) where count > 0: drained += count
            case .wouldBlock where await settles(.readable, until: linger): continue
            default: drained = Handshake.lingerInput
            }
        }
        end(TransportError(.closed))
    }

    /// Waits for the socket; false where it does not become ready in time, or the connection has ended.
    private func settles(_ readiness: Readiness, until deadline: Duration) async -> Bool {
        guard let socket, deadline > clock.now else { return false }
        let timeout = TransportError(.timedOut)
        let isReady: Void? = try? await withDeadline(deadline - clock.now, clock: clock, timeoutError: timeout) {
            // By the source that there is: each further one on the same socket shares its fate in Dispatch.
            if readiness == .readable { try await self.waitForInput() } else { try await socket.wait(until: readiness) }
        }
        return isReady != nil && failure == nil
    }

    /// Lets go of the socket and tells everybody who waits; only the first reason counts.
    @discardableResult
    private func end(_ error: TransportError) -> TransportError {
        if let failure { return failure }
        failure = error
        sources.cancel()
        socket = nil
        engine.output.drop(engine.output.count)
        engine.output.releaseIfEmpty()
        resumeReader()
        for index in writers.indices {
            writers[index].continuation?.resume()
            writers[index].continuation = nil
        }
        return error
    }
}
