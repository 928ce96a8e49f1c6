import Glibc
public import HandoffSupport

/// Makes connections to other machines of the account.
public enum Dialler {
    /// How long a TCP connection may take to stand.
    static let connectLimit = Duration.seconds(3)
    /// The lead that an address has before the next one is tried as well (RFC 8305, section 8).
    static let stagger = Duration.milliseconds(250)

    /// Dials a machine at all its addresses and returns the first connection whose handshake succeeds.
    ///
    /// The addresses are tried in their order, each 250 ms after the one before or as soon as that has failed; what is
    /// still under way when one succeeds is closed. Connecting may take 3 s and the handshake 5 s at each address.
    ///
    /// - Parameters:
    ///   - addresses: Where the machine may be, the likeliest first.
    ///   - applicationProtocol: The ALPN name of the protocol to speak.
    ///   - context: Who this end is.
    ///   - expectedMachineID: The machine it has to be; nil for any of the account.
    ///   - discoveryKey: An older discovery key of the account, for a machine that was off when it changed.
    ///   - clock: What the limits are measured by.
    /// - Throws: The most telling `TransportError` of all addresses, or `CancellationError`.
    public static func dial(
        _ addresses: [SocketAddress],
        applicationProtocol: String,
        context: TLSContext,
        expectedMachineID: String? = nil,
        discoveryKey: [UInt8]? = nil,
        clock: MonotonicClock = .system
    ) async throws -> Connection {
        let role = TLSEngine.Role.client(applicationProtocol: applicationProtocol, discoveryKey: discoveryKey)
        return try await race(addresses, clock: clock) { address in
            let socket = try await connect(to: address, clock: clock)
            let connection = try await Handshake.run(on: socket, context: context, role: role, clock: clock)
            if let expectedMachineID, connection.peer.machineID != expectedMachineID {
                connection.abort()
                throw TransportError(.otherMachine, refusedBy: .us, detail: address.description)
            }
            return connection
        }
    }

    /// Connects a socket.
    ///
    /// - Throws: `TransportError`, or `CancellationError`.
    static func connect(to address: SocketAddress, clock: MonotonicClock) async throws -> Socket {
        let socket: Socket
        do {
            socket = try Socket(family: address.family)
        } catch {
            let isFull = error.code == EMFILE || error.code == ENFILE
            throw TransportError(isFull ? .tooManyConnections : .unreachable, cause: error)
        }
        socket.tune()
        let code = address.withSockaddr { Glibc.connect(socket.number, $0, $1) == 0 ? 0 : errno }
        if code == 0 { return socket }
        func failure(_ code: CInt) -> TransportError {
            TransportError(.unreachable, cause: SystemError("connect to \(address)", code: code))
        }
        guard code == EINPROGRESS || code == EINTR else { throw failure(code) }
        let timeout = TransportError(.timedOut, detail: "connect to \(address)")
        try await withDeadline(connectLimit, clock: clock, timeoutError: timeout) {
            try await socket.wait(until: .writable)
        }
        let outcome = socket.takeError()
        guard outcome == 0 else { throw failure(outcome) }
        return socket
    }

    private enum Outcome: Sendable {
        case connected(Connection)
        case failed(TransportError)
        case cancelled
        /// The lead of the attempt with this number is over.
        case leadOver(Int)
    }

    private static func race(
        _ addresses: [SocketAddress],
        clock: MonotonicClock,
        attempt: @escaping @Sendable (SocketAddress) async throws -> Connection
    ) async throws -> Connection {
        try await withThrowingTaskGroup(of: Outcome.self) { group in
            var started = 0
            var running = 0
            var failure = TransportError(.unreachable, detail: "no address")

            func startNext() {
                guard started < addresses.count else { return }
                let address = addresses[started]
                started += 1
                running += 1
                let number = started
                group.addTask {
                    do {
                        return .connected(try await attempt(address))
                    } catch let error as TransportError {
                        return .failed(error)
                    } catch {
                        return .cancelled
                    }
                }
                group.addTask {
                    try? await clock.sleep(for: stagger)
                    return .leadOver(number)
                }
            }

            startNext()
            while running > 0, let outcome = try await group.next() {
                switch outcome {
                case .connected(let connection):
                    group.cancelAll()
                    for try await case .connected(let loser) in group { loser.abort() }
                    if Task.isCancelled {
                        connection.abort()
                        throw CancellationError()
                    }
                    return connection
                case .failed(let error):
                    running -= 1
                    if failure.detail == "no address" || error.weight > failure.weight { failure = error }
                    startNext()
                case .cancelled:
                    group.cancelAll()
                    throw CancellationError()
                case .leadOver(let number):
                    if number == started { startNext() }
                }
            }
            group.cancelAll()
            throw failure
        }
    }
}

extension TransportError {
    /// How much an error tells about why a machine cannot be had: a reason from its own mouth more than silence.
    fileprivate var weight: Int {
        switch code {
        case .timedOut, .unreachable, .tooManyConnections: 0
        case .truncated: 1
        case .otherMachine: 2
        default: refusedBy == .them ? 4 : 3
        }
    }
}
