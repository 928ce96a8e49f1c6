import Glibc
import HandoffSupport

/// The part of a stream that never waits: each step does what the socket allows at once, and says what it came to.
///
/// Its owner lets one thread in at a time, because an `SSL` serves one.
struct StreamCore {
    /// How much is encrypted before it is sent: three records.
    ///
    /// They go through the system in one piece, whose limit is 64 KiB. Larger batches were slower, often by a third
    /// (docs/performance.md).
    static let sendBatch = 3 * 16 * 1024
    /// How much is received before it is decrypted.
    static let receiveBatch = 64 * 1024

    /// What a step came to.
    enum Step: Equatable {
        /// So many bytes were moved; reading moves none at the other end's close_notify.
        case moved(Int)
        /// The socket has to be ready first.
        case waits(Readiness)
    }

    /// The TLS connection.
    private let engine: TLSEngine
    /// Nil once the stream has ended.
    private(set) var socket: Socket?
    /// Why the stream has ended; every step throws it.
    private var failure: TransportError?
    /// Why nothing can be written any more although the stream has not ended.
    private var writeFailure: TransportError?
    /// True once the other end has said close_notify.
    private(set) var hasReadEnd = false
    /// True once close_notify was sent.
    private(set) var hasFinished = false

    /// Takes over a socket and an engine whose handshake is over.
    init(engine: TLSEngine, socket: Socket) {
        self.engine = engine
        self.socket = socket
        engine.keepBuffers()
        // The kernel would give up on a reader that pauses; how long is long enough is for those who wait to say.
        socket.setOption(CInt(IPPROTO_TCP), TCP_USER_TIMEOUT, 0)
    }

    /// How much ciphertext waits for the network: at most a batch and its overhead.
    var pendingOutput: Int { engine.output.count }

    /// Decrypts into a buffer what has come.
    mutating func read(into buffer: UnsafeMutableRawBufferPointer) throws -> Step {
        while true {
            let socket = try openSocket()
            if hasReadEnd { return .moved(0) }
            switch try guarding({ engine in try engine.read(into: buffer) }) {
            case .bytes(let count):
                _ = try? flush()  // an answer to a key update, say
                return .moved(count)
            case .closed:
                hasReadEnd = true
                return .moved(0)
            case .wantsInput:
                break
            }
            switch engine.input.receive(atMost: Self.receiveBatch, from: socket) {
            case .bytes(0): throw end(TransportError(.truncated))
            case .bytes: continue
            case .wouldBlock: return .waits(.readable)
            case .failed(let cause): throw end(TransportError(lost: cause))
            }
        }
    }

    /// Encrypts the next batch of what is to be written and sends it, once the batch before has been sent.
    ///
    /// Without bytes it only waits for that: it moves 0 as soon as the socket has taken everything.
    mutating func write(_ bytes: UnsafeRawBufferPointer) throws -> Step {
        if engine.hasSentClose { throw TransportError(.closed) }
        guard try flush() else { return .waits(.writable) }
        let batch = UnsafeRawBufferPointer(rebasing: bytes.prefix(Self.sendBatch))
        try guarding { engine in try engine.write(batch) }
        _ = try flush()
        return .moved(batch.count)
    }

    /// Sends what was encrypted; false where the socket does not take all of it yet.
    ///
    /// A failure ends the writing alone: what the other end has sent before it broke off can still be read.
    private mutating func flush() throws -> Bool {
        let socket = try openSocket()
        if let writeFailure { throw writeFailure }
        while engine.output.count > 0 {
            switch socket.send(engine.output.bytes) {
            case .bytes(let count): engine.output.drop(count)
            case .wouldBlock: return false
            case .failed(let cause):
                // The other end's reason may wait to be read.
                _ = engine.input.receive(atMost: Handshake.lingerInput, from: socket)
                let failure = engine.peekFailure() ?? TransportError(lost: cause)
                writeFailure = failure
                throw failure
            }
        }
        return true
    }

    /// Says close_notify and shuts the writing side, once everything before it has been sent.
    mutating func finish() throws -> Step {
        if hasFinished { return .moved(0) }
        if writeFailure == nil { engine.close() }
        guard try flush() else { return .waits(.writable) }
        socket?.shutDownWriting()
        hasFinished = true
        return .moved(0)
    }

    /// Notes that a write was not done: no close_notify may make the other end take a part for the whole.
    mutating func breakWriting() {
        writeFailure = writeFailure ?? TransportError(.closed, detail: "a write was not done")
    }

    /// Ends the stream, for the first reason that is given.
    ///
    /// Whoever waits for the socket is woken by the kernel.
    @discardableResult
    mutating func end(_ error: TransportError) -> TransportError {
        if let failure { return failure }
        failure = error
        socket?.shutDown()
        socket = nil
        for queue in [engine.input, engine.output] {
            queue.drop(queue.count)
            queue.releaseIfEmpty()
        }
        return error
    }

    private func openSocket() throws -> Socket {
        guard let socket else { throw failure ?? TransportError(.closed) }
        return socket
    }

    /// A failure of TLS ends the stream; the other end is told by the alert that was made.
    private mutating func guarding<Result>(_ call: (TLSEngine) throws -> Result) throws -> Result {
        do {
            return try call(engine)
        } catch let error as TransportError {
            _ = try? flush()
            throw end(error)
        }
    }
}
