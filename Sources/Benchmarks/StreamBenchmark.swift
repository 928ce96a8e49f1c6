import CommandLineKit
import Glibc
import HandoffSupport
import HandoffTransport

/// Moves bytes from one process's memory to another's through the library's streams.
struct StreamBenchmark {
    private static let applicationProtocol = "handoff-stream/1"
    private static let piece = 256 * 1024

    private let context: TLSContext
    private let port: UInt16
    private let mebibytes: Int
    private let streams: Int

    init(_ arguments: Arguments) throws {
        guard let directory = arguments["identity"] else { throw CommandFailure.usage("--identity is missing") }
        context = try TLSContext(identity: Identity.load(directory: directory))
        port = try Self.number(arguments["port"] ?? "5290", "port", in: 1...65_535)
        mebibytes = try Self.number(arguments.values("mebibytes").first ?? "1024", "mebibytes", in: 1...1_000_000)
        streams = try Self.number(arguments["streams"] ?? "1", "streams", in: 1...10_000)
    }

    private static func number<Number: FixedWidthInteger>(
        _ text: String,
        _ option: String,
        in range: ClosedRange<Number>
    ) throws -> Number {
        guard let number = Number(text), range.contains(number) else {
            throw CommandFailure.usage("--\(option) wants a number, \(range.lowerBound) to \(range.upperBound)")
        }
        return number
    }

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
        try StandardOutput.write("{\(Self.usage)}\n")
        return .done
    }

    private static func send(over stream: StreamConnection) async throws {
        var request = [UInt8](repeating: 0, count: 8)
        let count = try await stream.read(into: &request)
        precondition(count == 8)
        var rest = request.reduce(0) { $0 << 8 | Int($1) }
        let bytes = [UInt8](repeating: 0x5a, count: piece)
        while rest > 0 {
            let next = min(rest, bytes.count)
            try await stream.write(bytes[..<next])
            rest -= next
        }
        try await stream.finish()
        _ = try await stream.read(into: &request)
    }

    func run(at host: String, mebibytes: Int) async throws -> ExitCode {
        guard let address = SocketAddress(numeric: host, port: port) else {
            throw CommandFailure.usage("ADDRESS is no IP address")
        }
        let clock = MonotonicClock.system
        let total = mebibytes << 20
        var connected: [StreamConnection] = []
        for _ in 0..<streams {
            let connection = try await Dialler.dial(
                [address],
                applicationProtocol: Self.applicationProtocol,
                context: context
            )
            connected.append(try await connection.makeStream())
        }
        let start = clock.now
        try await withThrowingTaskGroup(of: Void.self) { group in
            for stream in connected {
                group.addTask { try await Self.receive(total / streams, over: stream) }
            }
            try await group.waitForAll()
        }
        let seconds = (clock.now - start) / .seconds(1)
        try StandardOutput.write(
            "{\"bytes\":\(total),\"seconds\":\(seconds),\(Self.usage)}\n"
        )
        return .done
    }

    func run(at host: String) async throws -> ExitCode { try await run(at: host, mebibytes: mebibytes) }

    private static func receive(_ total: Int, over stream: StreamConnection) async throws {
        try await stream.write((0..<8).map { UInt8(truncatingIfNeeded: total >> (56 - 8 * $0)) })
        var buffer = [UInt8](repeating: 0, count: piece)
        var count = 0
        while true {
            let read = try await stream.read(into: &buffer)
            if read == 0 { break }
            count += read
        }
        guard count == total else { throw CommandFailure("\(count) bytes came instead of \(total)") }
        try await stream.finish()
    }

    /// What this process has used: processor time in seconds, and the most memory resident at once, in KiB.
    private static var usage: String {
        var usage = rusage()
        getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
        func seconds(_ time: timeval) -> Double { Double(time.tv_sec) + Double(time.tv_usec) / 1e6 }
        let processor = seconds(usage.ru_utime) + seconds(usage.ru_stime)
        return "\"processorSeconds\":\(processor),\"residentKiB\":\(usage.ru_maxrss)"
    }
}
