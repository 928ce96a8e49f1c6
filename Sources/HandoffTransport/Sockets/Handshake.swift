import Glibc
import HandoffSupport

/// Brings a connected socket through the TLS handshake.
enum Handshake {
    /// How long the whole handshake may take, from the moment the connection stands.
    static let limit = Duration.seconds(5)
    /// How long a stranger has for its ClientHello.
    static let helloLimit = Duration.seconds(1)
    /// More than a handshake's messages need; who sends more is not heard.
    static let largestInput = 32 * 1024
    /// How long the closing end waits for the other to read the reason.
    static let lingerLimit = Duration.seconds(1)
    /// How much the closing end reads meanwhile.
    static let lingerInput = 32 * 1024

    /// The content type of a handshake's records (RFC 8446, section 5.1).
    private static let handshakeRecord: UInt8 = 22

    /// What is being told while a handshake goes on.
    struct Progress: Sendable {
        /// Called at a server when the client has proved that it is of the account.
        var onProof: @Sendable () -> Void = {}
        /// Called as soon as the handshake has failed, before the reason has been carried to the other end.
        var onRefusal: @Sendable (TransportError) -> Void = { _ in }
    }

    /// Runs a handshake to its end.
    ///
    /// A refused end is told the reason before this returns: the alert is sent, the writing side is shut, and what
    /// still comes is read, for at most `lingerLimit`.
    ///
    /// - Throws: `TransportError`, or `CancellationError` when the task is cancelled, whereupon the socket is closed.
    static func run(
        on socket: Socket,
        context: TLSContext,
        role: TLSEngine.Role,
        clock: MonotonicClock,
        progress: Progress = Progress()
    ) async throws -> Connection {
        guard let remote = socket.remoteAddress, let local = socket.localAddress else {
            throw TransportError(.unreachable, cause: SystemError("connect", code: ENOTCONN))
        }
        let start = clock.now
        do {
            var opening: [UInt8] = []
            if case .server = role {
                opening = try await firstRecord(from: socket, until: start + helloLimit, clock: clock)
            }
            let engine = TLSEngine(context: context, role: role)
            engine.receive(opening)
            do {
                try await shakeHands(engine, on: socket, since: start, clock: clock, onProof: progress.onProof)
            } catch let error as TransportError where error.refusedBy == .us {
                // What is left to be said is an alert; while it is read the engine is not needed any more.
                try? await flush(engine, to: socket, until: clock.now + lingerLimit, clock: clock)
                throw error
            }
            return Connection(socket: socket, engine: engine, remoteAddress: remote, localAddress: local, clock: clock)
        } catch let error as TransportError {
            progress.onRefusal(error)
            if error.refusedBy == .us { await linger(on: socket, clock: clock) }
            throw error
        }
    }

    /// Reads a stranger's first record, so that those who do not send one whole cost little: an engine takes 70 KiB.
    private static func firstRecord(
        from socket: Socket,
        until deadline: Duration,
        clock: MonotonicClock
    ) async throws -> [UInt8] {
        var bytes: [UInt8] = []
        while true {
            bytes += try await receive(from: socket, step: "waiting for the ClientHello", until: deadline, clock: clock)
            // What is no handshake's record is the engine's to refuse. The header's last two bytes are the length.
            guard bytes[0] == handshakeRecord, bytes.count < largestInput else { return bytes }
            if bytes.count >= 5, bytes.count >= 5 + (Int(bytes[3]) << 8 | Int(bytes[4])) { return bytes }
        }
    }

    private static func shakeHands(
        _ engine: TLSEngine,
        on socket: Socket,
        since start: Duration,
        clock: MonotonicClock,
        onProof: () -> Void
    ) async throws {
        var received = engine.input.count
        var isStranger = !engine.isClient
        while true {
            let isOver = try engine.handshake()
            if isStranger, engine.isProven {
                isStranger = false
                onProof()
            }
            try await flush(engine, to: socket, until: start + limit, clock: clock)
            if isOver { return }
            guard received < largestInput else {
                throw TransportError(.tlsFailure, detail: "more than \(largestInput) bytes in a handshake")
            }
            let bytes = try await receive(
                from: socket,
                step: isStranger ? "waiting for the ClientHello" : "TLS handshake",
                until: start + (isStranger ? helloLimit : limit),
                clock: clock
            )
            engine.receive(bytes)
            received += bytes.count
        }
    }

    private static func flush(
        _ engine: TLSEngine,
        to socket: Socket,
        until deadline: Duration,
        clock: MonotonicClock
    ) async throws {
        while engine.output.count > 0 {
            switch socket.send(engine.output.bytes) {
            case .bytes(let count): engine.output.drop(count)
            case .failed(let cause): throw TransportError(lost: cause)
            case .wouldBlock:
                try await wait(for: .writable, of: socket, step: "TLS handshake", until: deadline, clock: clock)
            }
        }
    }

    private static func receive(
        from socket: Socket,
        step: String,
        until deadline: Duration,
        clock: MonotonicClock
    ) async throws -> [UInt8] {
        while true {
            var transfer = Socket.Transfer.wouldBlock
            // A handshake's flight is 1 to 2 KiB; small reads keep what follows it out of the bound.
            let bytes = [UInt8](unsafeUninitializedCapacity: 4096) { buffer, count in
                transfer = socket.receive(into: UnsafeMutableRawBufferPointer(buffer))
                if case .bytes(let received) = transfer { count = received }
            }
            switch transfer {
            case .bytes(0): throw TransportError(.truncated, detail: step)
            case .bytes: return bytes
            case .failed(let cause): throw TransportError(lost: cause)
            case .wouldBlock: try await wait(for: .readable, of: socket, step: step, until: deadline, clock: clock)
            }
        }
    }

    private static func wait(
        for readiness: Readiness,
        of socket: Socket,
        step: String,
        until deadline: Duration,
        clock: MonotonicClock
    ) async throws {
        let timeout = TransportError(.timedOut, detail: step)
        let remaining = deadline - clock.now
        guard remaining > .zero else { throw timeout }
        try await withDeadline(remaining, clock: clock, timeoutError: timeout) {
            try await socket.wait(until: readiness)
        }
    }

    /// Lets the other end read the alert: a socket closed while something unread waits in it is reset, and the reset
    /// overtakes the alert.
    private static func linger(on socket: Socket, clock: MonotonicClock) async {
        let deadline = clock.now + lingerLimit
        socket.shutDownWriting()
        var drained = 0
        while drained < lingerInput {
            let bytes = try? await receive(from: socket, step: "goodbye", until: deadline, clock: clock)
            guard let bytes else { return }
            drained += bytes.count
        }
    }
}

extension ByteQueue {
    /// Adds what a socket has, as far as it goes in one call.
    func receive(atMost count: Int, from socket: Socket) -> Socket.Transfer {
        var transfer = Socket.Transfer.wouldBlock
        fill(atMost: count) { space in
            transfer = socket.receive(into: space)
            if case .bytes(let received) = transfer { return received }
            return 0
        }
        return transfer
    }
}
