package import HandoffSupport

/// A connection between a machine that invites and one that joins: few bytes, one task, a deadline for each step.
package actor EnrolmentConnection {
    /// How long a stranger has for its ClientHello.
    package static let helloLimit = Duration.seconds(1)
    /// How long the handshake may take after that.
    package static let handshakeLimit = Duration.seconds(5)
    /// How long a message may take.
    package static let stepLimit = Duration.seconds(10)
    /// The most that is read before the handshake is over; who sends more is not heard.
    private static let largestHandshake = 16 * 1024

    /// The other end's address.
    package nonisolated let remoteAddress: SocketAddress

    private let executor = QueueExecutor(label: "handoff.enrolment")
    private let socket: Socket
    private let engine: EnrolmentEngine
    private let clock: MonotonicClock
    private var received = 0
    /// SHA-256 of the ClientHello: what a replay of it is known by.
    package private(set) var helloDigest: [UInt8] = []
    /// Whether the ClientHello was made by somebody who knows the code; it may be a replay.
    package private(set) var hasPassedHello = false

    /// Takes over a connected socket and an engine.
    init(socket: Socket, engine: sending EnrolmentEngine, remoteAddress: SocketAddress, clock: MonotonicClock) {
        self.socket = socket
        self.engine = engine
        self.remoteAddress = remoteAddress
        self.clock = clock
    }

    /// The connection's own queue.
    package nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    /// Dials a machine that invites.
    ///
    /// - Throws: `EnrolmentFailure`; `CancellationError`.
    package static func dial(
        _ address: SocketAddress,
        key: PreSharedKey,
        clock: MonotonicClock
    ) async throws -> EnrolmentConnection {
        let socket: Socket
        do {
            socket = try await Dialler.connect(to: address, clock: clock)
        } catch let error as TransportError {
            throw EnrolmentFailure.unreachable(error.description)
        }
        let connection = EnrolmentConnection(
            socket: socket,
            engine: EnrolmentEngine(joiningWith: key),
            remoteAddress: address,
            clock: clock
        )
        try await connection.finishHandshake()
        return connection
    }

    /// Waits until the other end's ClientHello is here, and judges nothing.
    ///
    /// - Throws: `EnrolmentFailure`; `CancellationError`.
    func awaitHello() async throws {
        let deadline = clock.now + Self.helloLimit
        // A record begins with its type and version, and a length of 2 bytes (RFC 8446, section 5.1).
        while engine.input.count < 5
            || engine.input.count < 5 + (Int(engine.input.bytes[3]) << 8 | Int(engine.input.bytes[4]))
        {
            guard received < Self.largestHandshake else { throw EnrolmentFailure.failed("too long a ClientHello") }
            try await receive(until: deadline)
        }
        helloDigest = Crypto.sha256(Array(engine.input.bytes))
    }

    /// Goes through the handshake; at the inviting end it judges the code.
    ///
    /// - Throws: `EnrolmentFailure`; `CancellationError`.
    package func finishHandshake() async throws {
        let deadline = clock.now + Self.handshakeLimit
        do {
            while true {
                let isOver = try engine.handshake()
                // A stranger that sends half a ClientHello, or one without the key and the wrong group, would keep its
                // judge waiting for more.
                guard engine.isClient || engine.hasAcceptedKey else {
                    throw EnrolmentFailure.failed("a ClientHello that is incomplete or has no key")
                }
                hasPassedHello = true
                try await flush(until: deadline)
                if isOver { break }
                guard received < Self.largestHandshake else { throw EnrolmentFailure.failed("too long a handshake") }
                try await receive(until: deadline)
            }
        } catch {
            try? await flush(until: clock.now)  // the alert, as far as the network takes it at once
            throw error
        }
    }

    /// Sends bytes.
    ///
    /// - Throws: `EnrolmentFailure`; `CancellationError`.
    package func send(_ bytes: [UInt8]) async throws {
        try engine.write(bytes)
        try await flush(until: clock.now + Self.stepLimit)
    }

    /// Receives bytes, whichever have come.
    ///
    /// - Parameter limit: How long to wait for them.
    /// - Returns: Nil at the end.
    /// - Throws: `EnrolmentFailure`; `CancellationError`.
    package func receive(within limit: Duration = stepLimit) async throws -> [UInt8]? {
        let deadline = clock.now + limit
        while true {
            switch try engine.read() {
            case .bytes(let bytes): return bytes
            case .closed: return nil
            case .wantsInput: try await receive(until: deadline)
            }
        }
    }

    /// Ends the connection in order: a closed socket with something unread in it would be reset, and the reset overtake
    /// the last bytes.
    package func close() async {
        engine.close()
        let deadline = clock.now + Handshake.lingerLimit
        guard (try? await flush(until: deadline)) != nil else { return }
        socket.shutDownWriting()
        var drained = 0
        while drained < Handshake.lingerInput {
            engine.input.drop(engine.input.count)
            guard let count = try? await receive(until: deadline) else { return }
            drained += count
        }
    }

    private func flush(until deadline: Duration) async throws {
        while engine.output.count > 0 {
            switch socket.send(engine.output.bytes) {
            case .bytes(let count): engine.output.drop(count)
            case .failed(let cause): throw EnrolmentFailure.unreachable(cause.description)
            case .wouldBlock: try await wait(for: .writable, until: deadline)
            }
        }
    }

    @discardableResult
    private func receive(until deadline: Duration) async throws -> Int {
        while true {
            switch engine.input.receive(atMost: 4096, from: socket) {
            case .bytes(0): throw EnrolmentFailure.unreachable("the other end has closed the connection")
            case .bytes(let count):
                received += count
                return count
            case .failed(let cause): throw EnrolmentFailure.unreachable(cause.description)
            case .wouldBlock: try await wait(for: .readable, until: deadline)
            }
        }
    }

    private func wait(for readiness: Readiness, until deadline: Duration) async throws {
        let timeout = EnrolmentFailure.unreachable("the other end does not answer")
        let remaining = deadline - clock.now
        guard remaining > .zero else { throw timeout }
        try await withDeadline(remaining, clock: clock, timeoutError: timeout) { [socket] in
            try await socket.wait(until: readiness)
        }
    }
}
