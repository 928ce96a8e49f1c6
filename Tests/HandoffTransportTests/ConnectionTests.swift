import Glibc
import HandoffSupport
import HandoffTestKit
import Testing

@testable import HandoffTransport

@Suite("A connection", .timeLimit(.minutes(1)))
struct ConnectionTests {
    @Test("It carries bytes both ways and knows both ends")
    func carriesBytes() async throws {
        let context = try makeContext()
        let door = try await Door.open(try makeContext())
        let (dialler, acceptor) = try await door.connect(context)
        #expect(dialler.isDialler && !acceptor.isDialler)
        #expect(acceptor.peer.machineID == context.identity.machineID)
        #expect(acceptor.applicationProtocol == "handoff/1")
        #expect(dialler.remoteAddress == door.addresses[0] && acceptor.remoteAddress == dialler.localAddress)
        try await acceptor.write([1, 2, 3])
        #expect(try await dialler.read() == [1, 2, 3])
        try await dialler.write([4])
        #expect(try await acceptor.read() == [4])
        await door.listener.close()
        // A listener's end is not the end of what it delivered.
        try await acceptor.write([5])
        #expect(try await dialler.read() == [5])
    }

    @Test("close is read as the end, and abort as a truncation")
    func tellsEndFromTruncation() async throws {
        let door = try await Door.open(try makeContext())
        var (dialler, acceptor) = try await door.connect(try makeContext())
        try await acceptor.write([1])
        async let closing: Void = acceptor.close()
        #expect(try await dialler.read() == [1])
        #expect(try await dialler.read() == nil)
        await dialler.close()
        await closing
        await #expect(throws: TransportError(.closed)) { try await acceptor.read() }
        await #expect(throws: TransportError(.closed)) { try await acceptor.write([1]) }

        (dialler, acceptor) = try await door.connect(try makeContext())
        acceptor.abort()
        await #expect(throws: TransportError(.truncated)) { try await dialler.read() }
        await door.listener.close()
    }

    @Test("A connection that nobody holds any more is closed")
    func closesWhenDropped() async throws {
        let door = try await Door.open(try makeContext())
        var pair: (dialler: Connection, acceptor: Connection)? = try await door.connect(try makeContext())
        let dialler = try #require(pair?.dialler)
        pair = nil
        await #expect(throws: TransportError(.truncated)) { try await dialler.read() }
        await door.listener.close()
    }

    @Test("After finishWriting the other direction stays open")
    func halfCloses() async throws {
        let door = try await Door.open(try makeContext())
        let (dialler, acceptor) = try await door.connect(try makeContext())
        try await dialler.finishWriting()
        #expect(try await acceptor.read() == nil)
        try await acceptor.write([7])
        #expect(try await dialler.read() == [7])
        await #expect(throws: TransportError(.closed)) { try await dialler.write([1]) }
        await door.listener.close()
    }

    @Test("close delivers everything that was written, however slow the reader")
    func closeDelivers() async throws {
        let door = try await Door.open(try makeContext())
        let (dialler, acceptor) = try await door.connect(try makeContext())
        let size = 3 << 20
        async let closing: Void = {
            try await acceptor.write([UInt8](repeating: 9, count: size))
            await acceptor.close()
        }()
        var count = 0
        while let bytes = try await dialler.read() { count += bytes.count }
        #expect(count == size)
        dialler.abort()
        try await closing
        await door.listener.close()
    }

    @Test("16 MiB come back as they went, through a reader with a small buffer")
    func echoesBulk() async throws {
        let door = try await Door.open(try makeContext())
        let (dialler, acceptor) = try await door.connect(try makeContext())
        let chunk = (0..<262_144).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8) }
        let chunks = 64
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                // Echoes in small pieces, so that the sender is held up and the records are many.
                while let bytes = try await acceptor.read() {
                    for start in stride(from: 0, to: bytes.count, by: 4093) {
                        try await acceptor.write(Array(bytes[start..<min(start + 4093, bytes.count)]))
                    }
                }
                try await acceptor.finishWriting()
            }
            group.addTask {
                for _ in 0..<chunks { try await dialler.write(chunk) }
                try await dialler.finishWriting()
            }
            var offset = 0
            var differences = 0
            while let bytes = try await dialler.read() {
                for byte in bytes {
                    if byte != chunk[offset & 262_143] { differences += 1 }
                    offset += 1
                }
            }
            #expect(offset == chunks * chunk.count && differences == 0)
            try await group.waitForAll()
        }
        await door.listener.close()
    }

    @Test("A writer is held up until the other end has read enough")
    func holdsWritersUp() async throws {
        let door = try await Door.open(try makeContext())
        let (dialler, acceptor) = try await door.connect(try makeContext())
        let chunk = [UInt8](repeating: 1, count: 8 << 20)  // more than the sockets' buffers take at once
        let writer = Task {
            for _ in 0..<4 {
                try await dialler.write(chunk)
                #expect(await dialler.pendingOutput < Connection.highWater)
            }
            await dialler.close()
        }
        var count = 0
        while let bytes = try await acceptor.read() { count += bytes.count }
        #expect(count == 4 * chunk.count)
        acceptor.abort()
        try await writer.value
        await door.listener.close()
    }

    @Test("Writes of several tasks are not mixed")
    func keepsWritesWhole() async throws {
        let door = try await Door.open(try makeContext())
        let (dialler, acceptor) = try await door.connect(try makeContext())
        let length = 700_000
        try await withThrowingTaskGroup(of: Void.self) { group in
            for value in UInt8(0)..<8 {
                group.addTask { try await dialler.write([UInt8](repeating: value, count: length)) }
            }
            var received: [UInt8] = []
            while received.count < 8 * length { received += try #require(try await acceptor.read()) }
            let runs = stride(from: 0, to: received.count, by: length).map { Set(received[$0..<($0 + length)]) }
            #expect(runs.allSatisfy { $0.count == 1 } && Set(runs).count == 8)
            try await group.waitForAll()
        }
        await door.listener.close()
    }

    @Test("A cancelled read throws, and the next one loses nothing")
    func cancelsReads() async throws {
        let door = try await Door.open(try makeContext())
        let (dialler, acceptor) = try await door.connect(try makeContext())
        let reader = Task { try await dialler.read() }
        await Task.yield()
        reader.cancel()
        await #expect(throws: CancellationError.self) { try await reader.value }
        try await acceptor.write([3])
        #expect(try await dialler.read() == [3])
        await door.listener.close()
    }

    @Test("A cancelled write throws, though the other end never reads")
    func cancelsWrites() async throws {
        let door = try await Door.open(try makeContext())
        let (dialler, acceptor) = try await door.connect(try makeContext())
        let writer = Task {
            while true { try await dialler.write([UInt8](repeating: 0, count: 1 << 20)) }
        }
        _ = try await acceptor.read()
        writer.cancel()
        await #expect(throws: CancellationError.self) { try await writer.value }
        dialler.abort()
        await door.listener.close()
    }

    @Test("A peer that resets during a write is an error, not a signal")
    func survivesReset() async throws {
        let door = try await Door.open(try makeContext())
        let (dialler, acceptor) = try await door.connect(try makeContext())
        let writer = Task {
            while true { try await dialler.write([UInt8](repeating: 0, count: 1 << 20)) }
        }
        _ = try await acceptor.read()
        acceptor.abort()  // with unread bytes in its socket: a reset
        let error = await failure { try await writer.value } as? TransportError
        #expect(error?.code == .truncated)
        await #expect(throws: TransportError.self) { try await dialler.write([1]) }
        await door.listener.close()
    }

    @Test("abort wakes a waiting read")
    func abortWakes() async throws {
        let door = try await Door.open(try makeContext())
        let (dialler, acceptor) = try await door.connect(try makeContext())
        let reader = Task { try await dialler.read() }
        await Task.yield()
        dialler.abort()
        await #expect(throws: TransportError(.closed)) { try await reader.value }
        acceptor.abort()
        await door.listener.close()
    }

    @Test("What came before the end is read before the end")
    func readsWhatCameBefore() async throws {
        let door = try await Door.open(try makeContext())
        let (dialler, acceptor) = try await door.connect(try makeContext())
        for value in UInt8(0)..<50 { try await acceptor.write([value]) }
        async let closing: Void = acceptor.close()
        var received: [UInt8] = []
        while let bytes = try await dialler.read() { received += bytes }
        #expect(received == Array(0..<50))
        dialler.abort()
        await closing
        await door.listener.close()
    }

    @Test("A write to a connection that is gone raises no signal")
    func raisesNoSignal() async {
        await #expect(processExitsWith: .success) {
            signal(SIGPIPE, SIG_DFL)
            let listening = try ListeningSocket.open(port: 0)
            let port = try #require(listening.localAddress).port
            let address = try #require(SocketAddress(numeric: "127.0.0.1", port: port))
            let socket = try await Dialler.connect(to: address, clock: .system)
            socket.shutDownWriting()
            guard case .failed(let error) = withUnsafeBytes(of: 0, { socket.send($0) }), error.code == EPIPE else {
                throw TransportError(.closed)
            }
        }
    }
}
