import HandoffSupport
import HandoffTestKit
import Testing

@testable import HandoffTransport

/// The account that most tests use; making keys costs more than the tests.
let account = TestAccount()

func makeContext(
    _ kind: TestAccount.Kind = .good,
    of account: TestAccount = account,
    isRevoked: @escaping @Sendable (String, String) -> Bool = { _, _ in false }
) throws -> TLSContext {
    try TLSContext(identity: account.makeIdentity(kind), isRevoked: isRevoked)
}

func makeClient(_ context: TLSContext, applicationProtocol: String = "handoff/1") -> TLSEngine {
    TLSEngine(context: context, role: .client(applicationProtocol: applicationProtocol, discoveryKey: nil))
}

func makeServer(_ context: TLSContext) -> TLSEngine {
    TLSEngine(context: context, role: .server(applicationProtocols: ["handoff/1", "handoff-stream/1"]))
}

/// What became of the two ends of a handshake in memory; nil where an end is content.
struct Handshaken {
    var client: TransportError?
    var server: TransportError?
}

/// Carries ciphertext between two engines until neither has more to say, then lets the client read once, which is when
/// it learns what the server thinks of it.
func shakeHands(_ client: TLSEngine, _ server: TLSEngine) throws -> Handshaken {
    var result = Handshaken()
    func step(_ engine: TLSEngine) -> TransportError? {
        do {
            _ = try engine.handshake()
            return nil
        } catch {
            return error as? TransportError
        }
    }
    for _ in 0..<10 {
        result.client = step(client)
        server.receive(client.takeOutput())
        result.server = step(server)
        client.receive(server.takeOutput())
    }
    if result.client == nil, client.peer != nil {
        do {
            _ = try client.read()
        } catch {
            result.client = error as? TransportError
        }
    }
    return result
}

/// A listener on loopback and the addresses to dial it at.
struct Door {
    let listener: Listener
    let addresses: [SocketAddress]

    static func open(_ context: TLSContext, clock: MonotonicClock = .system) async throws -> Door {
        let listener = try await Listener.bind(
            ports: 0...0,
            applicationProtocols: ["handoff/1", "handoff-stream/1"],
            context: context,
            clock: clock
        )
        let address = try #require(SocketAddress(numeric: "127.0.0.1", port: listener.port))
        return Door(listener: listener, addresses: [address])
    }

    func nextConnection() async throws -> Connection {
        while let event = try await listener.events.next() {
            if case .connection(let connection) = event { return connection }
        }
        throw TransportError(.closed)
    }

    func nextRefusal() async throws -> TransportError {
        while let event = try await listener.events.next() {
            if case .refused(let refusal) = event { return refusal.error }
        }
        throw TransportError(.closed)
    }

    /// Two ends of one connection.
    func connect(_ context: TLSContext) async throws -> (dialler: Connection, acceptor: Connection) {
        async let acceptor = nextConnection()
        let dialler = try await Dialler.dial(addresses, applicationProtocol: "handoff/1", context: context)
        return (dialler, try await acceptor)
    }
}

/// The error that an operation throws.
func failure(of operation: () async throws -> Void) async -> (any Error)? {
    do {
        try await operation()
        return nil
    } catch {
        return error
    }
}
