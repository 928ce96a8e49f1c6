import CommandLineKit
import HandoffSupport
import HandoffTransport

/// Moves bytes from the memory of one process to that of another through streams.
///
/// Whoever reads asks for a number of bytes, as eight bytes in network order; the other end sends them and its end.
struct StreamBenchmark {
    private static let applicationProtocol = "handoff-stream/1"
    /// How much is written at a time and read at most.
    private static let piece = 256 * 1024

    private let context: TLSContext
    private let port: UInt16
    /// How many streams there are at once.
    private let streams: Int

    /// Reads the options that both ends have.
    ///
    /// - Throws: `CommandFailure`, `IdentityError`.
    init(_ arguments: Arguments) throws {
        guard let directory = arguments["identity"] else { throw CommandFailure.usage("--identity is missing") }
        context = try TLSContext(identity: Identity.load(directory: directory))
        port = try arguments.number("port", in: 1...65_535) ?? 5290
        streams = try arguments.number("streams", in: 1...1000) ?? 1
    }

    /// Sends what is asked for, over so many streams, and prints what that took.
    func serve() async throws -> ExitCode {
        let listener = try await Listener.bind(
            ports: port...port,
            applicationProtocols: [Self.applicationProtocol],
            context: context
        )
        try StandardOutput.write("listening\n")
        try await withThrowingTaskGroup(of: Void.self) { group in
            var count = 0
            while count < streams, let event = try await listener.events.next() {
                guard case .connection(let connection) = event else { continue }
                count += 1
                group.addTask { try await Self.send(over: connection.makeStream()) }
            }
            try await group.waitForAll()
        }
        await listener.close()
        try StandardOutput.write("{\(ResourceUsage.json)}\n")
        return .done
    }

    /// Reads so many bytes over all streams together, and prints how long that and what it took.
    func run(at host: String, bytes total: Int) async throws -> ExitCode {
        guard let address = SocketAddress(numeric: host, port: port) else {
            throw CommandFailure.usage("“\(printable(host))” is no IP address")
        }
        var connected: [StreamConnection] = []
        for _ in 0..<streams {
            let connection = try await Dialler.dial(
                [address],
                applicationProtocol: Self.applicationProtocol,
                context: context
            )
            connected.append(try await connection.makeStream())
        }
        let start = MonotonicClock.system.now
        try await withThrowingTaskGroup(of: Void.self) { group in
            for stream in connected {
                group.addTask { try await Self.receive(total / streams, over: stream) }
            }
            try await group.waitForAll()
        }
        let seconds = (MonotonicClock.system.now - start) / .seconds(1)
        let moved = total / streams * streams
        try StandardOutput.write("{\"bytes\":\(moved),\"seconds\":\(seconds),\(ResourceUsage.json)}\n")
        return .done
    }

    private static func send(over stream: StreamConnection) async throws {
        guard let request = try await stream.read(exactly: 8) else { return }
        var rest = request.reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        let bytes = [UInt8](repeating: 0x5a, count: piece)
        while rest > 0 {
            let next = Int(min(rest, UInt64(piece)))
            try await stream.write(bytes[..<next])
            rest -= UInt64(next)
        }
        await stream.close()
    }

    private static func receive(_ total: Int, over stream: StreamConnection) async throws {
        try await stream.write((0..<8).map { UInt8(truncatingIfNeeded: total >> (56 - 8 * $0)) })
        var buffer = [UInt8](repeating: 0, count: piece)
        var count = 0
        while case let added = try await stream.read(into: &buffer), added > 0 { count += added }
        guard count == total else { throw CommandFailure("\(count) bytes came instead of \(total)") }
        await stream.close()
    }
}

extension Arguments {
    /// The value of an option that is a number; nil where it was not given.
    ///
    /// - Throws: `CommandFailure` where it is none, or out of its range.
    func number<Number: FixedWidthInteger>(_ name: String, in range: ClosedRange<Number>) throws -> Number? {
        guard let text = self[name] else { return nil }
        guard let number = Number(text), range.contains(number) else {
            throw CommandFailure.usage("--\(name) wants a number, \(range.lowerBound) to \(range.upperBound)")
        }
        return number
    }
}
