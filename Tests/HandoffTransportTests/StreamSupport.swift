import Glibc
import HandoffSupport
import HandoffTestKit
import Testing

@testable import HandoffTransport

/// A TLS client whose ciphertext is sent by hand.
struct BarePeer {
    let socket: Socket
    private let engine: TLSEngine

    init(dialling address: SocketAddress, context: TLSContext) async throws {
        socket = try await Dialler.connect(to: address, clock: .system)
        engine = makeClient(context, applicationProtocol: "handoff-stream/1")
        while true {
            let isOver = try engine.handshake()
            try await send(engine.takeOutput())
            if isOver { return }
            try await socket.wait(until: .readable)
            _ = engine.input.receive(atMost: 4096, from: socket)
        }
    }

    func encrypt(_ bytes: [UInt8]) throws -> [UInt8] {
        try bytes.withUnsafeBytes { try engine.write($0) }
        return engine.takeOutput()
    }

    func sayEnd() -> [UInt8] {
        engine.close()
        return engine.takeOutput()
    }

    func send(_ bytes: some Collection<UInt8>) async throws {
        var rest = Array(bytes)[...]
        while !rest.isEmpty {
            switch rest.withUnsafeBytes({ socket.send($0) }) {
            case .bytes(let count): rest = rest.dropFirst(count)
            case .wouldBlock: try await socket.wait(until: .writable)
            case .failed(let error): throw error
            }
        }
    }
}

extension Door {
    /// Two ends of one stream.
    func streams(
        _ context: TLSContext,
        clock: MonotonicClock = .system
    ) async throws -> (dialler: StreamConnection, acceptor: StreamConnection) {
        async let acceptor = nextConnection()
        let dialler = try await Dialler.dial(
            addresses,
            applicationProtocol: "handoff-stream/1",
            context: context,
            clock: clock
        )
        let accepted = try await acceptor
        #expect(accepted.applicationProtocol == "handoff-stream/1")
        return (try await dialler.makeStream(), try await accepted.makeStream())
    }
}

/// Runs a test on the two ends of a stream; the clock is the dialler's.
func withStreams(
    clock: MonotonicClock = .system,
    _ body: (_ dialler: StreamConnection, _ acceptor: StreamConnection) async throws -> Void
) async throws {
    let door = try await Door.open(try makeContext())
    let (dialler, acceptor) = try await door.streams(try makeContext(), clock: clock)
    try await body(dialler, acceptor)
    dialler.abort()
    acceptor.abort()
    await door.listener.close()
}

func pattern(_ count: Int, seed: Int) -> [UInt8] {
    (0..<count).map { UInt8(truncatingIfNeeded: ($0 &+ seed) &* 31 &+ $0 >> 8) }
}

func send(_ bytes: [UInt8], over stream: StreamConnection) async throws {
    try await stream.write(bytes)
    try await stream.finish()
}

func readAll(_ stream: StreamConnection) async throws -> [UInt8] {
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 70_000)
    while case let count = try await stream.read(into: &buffer), count > 0 { bytes += buffer[..<count] }
    return bytes
}

func openDescriptors() -> Int {
    (0..<1024).count { fcntl($0, F_GETFD) != -1 }
}
