import Glibc
import HandoffSupport
import HandoffTestKit
import Testing

@testable import HandoffTransport

@Suite("A stream", .timeLimit(.minutes(1)))
struct StreamTests {
    @Test(
        "It carries both directions at once, whole, whatever the size",
        arguments: [0, 1, 16_383, 16_384, 16_385, (1 << 20) + 1]
    )
    func carriesBothWays(size: Int) async throws {
        try await withStreams { dialler, acceptor in
            #expect(dialler.isDialler && !acceptor.isDialler && dialler.remoteAddress == acceptor.localAddress)
            let there = pattern(size, seed: 1)
            let back = pattern(size, seed: 2)
            async let sentThere: Void = send(there, over: dialler)
            async let sentBack: Void = send(back, over: acceptor)
            async let readThere = readAll(acceptor)
            #expect(try await readAll(dialler) == back)
            #expect(try await readThere == there)
            _ = try await (sentThere, sentBack)
        }
    }

    @Test("Each direction ends by itself", arguments: [true, false])
    func halfCloses(diallerFirst: Bool) async throws {
        try await withStreams { dialler, acceptor in
            let (first, second) = diallerFirst ? (dialler, acceptor) : (acceptor, dialler)
            try await first.finish()
            try await first.finish()
            var buffer = [UInt8](repeating: 0, count: 10)
            #expect(try await second.read(into: &buffer) == 0)
            #expect(try await second.read(into: &buffer) == 0)
            await #expect(throws: TransportError(.closed)) { try await first.write([1]) }
            let bytes = pattern(300_000, seed: 3)
            async let sent: Void = send(bytes, over: second)
            #expect(try await readAll(first) == bytes)
            try await sent
        }
    }

    @Test("A frame of known length is read first, and not a byte of what follows is lost")
    func readsExactly() async throws {
        try await withStreams { dialler, acceptor in
            let bytes = pattern(100_000, seed: 4)
            async let sent: Void = send(bytes, over: dialler)
            #expect(try await acceptor.read(exactly: 4) == Array(bytes[..<4]))
            #expect(try await acceptor.read(exactly: 40_000) == Array(bytes[4..<40_004]))
            #expect(try await readAll(acceptor) == Array(bytes[40_004...]))
            #expect(try await acceptor.read(exactly: 1) == nil)
            try await sent
            try await acceptor.write([1, 2])
            try await acceptor.finish()
            await #expect(throws: TransportError(.truncated)) { try await dialler.read(exactly: 3) }
        }
    }

    @Test("Bytes that do not lie in one piece are written too")
    func writesAnyCollection() async throws {
        try await withStreams { dialler, acceptor in
            try await dialler.write([1, 2, 3].reversed())
            try await dialler.write([0, 4, 5][1...])
            #expect(try await acceptor.read(exactly: 5) == [3, 2, 1, 4, 5])
        }
    }

    @Test("The connection that it was made from is closed")
    func takesOver() async throws {
        let door = try await Door.open(try makeContext())
        let (dialler, acceptor) = try await door.connect(try makeContext())
        let stream = try await dialler.makeStream()
        await #expect(throws: TransportError(.closed)) { try await dialler.write([1]) }
        await #expect(throws: TransportError(.closed)) { try await dialler.read() }
        await #expect(throws: TransportError(.closed)) { try await dialler.makeStream() }
        await dialler.close()
        try await acceptor.write([1])
        #expect(try await stream.read(exactly: 1) == [1])
        acceptor.abort()
        await door.listener.close()
    }

    @Test("The dialler hears why it was refused")
    func hearsRefusals() async throws {
        let door = try await Door.open(try makeContext())
        let bad = try makeContext(.otherAccount)
        let connection = try await Dialler.dial(door.addresses, applicationProtocol: "handoff-stream/1", context: bad)
        let stream = try await connection.makeStream()
        let error = await failure { _ = try await stream.read(exactly: 1) } as? TransportError
        #expect(error?.code == .otherAccount && error?.refusedBy == .them)
        await door.listener.close()
    }

    @Test("32 streams at once carry 300,000 bytes each, there and back")
    func carriesMany() async throws {
        let door = try await Door.open(try makeContext())
        let context = try makeContext()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for seed in 0..<32 {
                let (dialler, acceptor) = try await door.streams(context)
                group.addTask {
                    var buffer = [UInt8](repeating: 0, count: 50_000)
                    while case let count = try await acceptor.read(into: &buffer), count > 0 {
                        try await acceptor.write(buffer[..<count])
                    }
                    await acceptor.close()
                }
                group.addTask {
                    let bytes = pattern(300_000, seed: seed)
                    async let sent: Void = send(bytes, over: dialler)
                    #expect(try await readAll(dialler) == bytes)
                    try await sent
                }
            }
            try await group.waitForAll()
        }
        await door.listener.close()
    }
}

@Suite("A stream that is held up", .timeLimit(.minutes(1)))
struct StreamPressureTests {
    @Test("A slow reader holds the writer up: what is under way stays bounded")
    func holdsWritersUp() async throws {
        try await withStreams { dialler, acceptor in
            // The system's own buffers would hide the bound: they grow to megabytes.
            dialler.socket?.setOption(SOL_SOCKET, SO_SNDBUF, 64 << 10)
            acceptor.socket?.setOption(SOL_SOCKET, SO_RCVBUF, 64 << 10)
            let total = 16 << 20
            let written = LockedBox(0)
            let writer = Task {
                let piece = [UInt8](repeating: 1, count: 100_000)
                while written.withLock({ $0 }) < total {
                    try await dialler.write(piece)
                    written.withLock { $0 += piece.count }
                }
                try await dialler.finish()
            }
            var buffer = [UInt8](repeating: 0, count: 10_000)
            var count = 0
            var most = 0
            while case let added = try await acceptor.read(into: &buffer), added > 0 {
                count += added
                most = max(most, written.withLock { $0 } - count)
                #expect(dialler.pendingOutput <= StreamCore.sendBatch + 1024)
            }
            try await writer.value
            #expect(count == written.withLock { $0 } && most < 2 << 20)
        }
    }

    @Test("A cancelled read throws, and the next one loses nothing")
    func cancelsReads() async throws {
        try await withStreams { dialler, acceptor in
            let reader = Task { try await dialler.read(exactly: 1) }
            #expect(await eventually { dialler.waitingCount == 1 })
            reader.cancel()
            await #expect(throws: CancellationError.self) { try await reader.value }
            try await acceptor.write([3])
            #expect(try await dialler.read(exactly: 1) == [3])
        }
    }

    @Test("After a cancelled write no end in order can be told")
    func cancelsWrites() async throws {
        try await withStreams { dialler, acceptor in
            let writer = Task { try await dialler.write([UInt8](repeating: 0, count: 64 << 20)) }
            #expect(await eventually { dialler.waitingCount == 1 })
            writer.cancel()
            await #expect(throws: CancellationError.self) { try await writer.value }
            await #expect(throws: TransportError(.closed)) { try await dialler.write([1]) }
            await #expect(throws: TransportError(.closed)) { try await dialler.finish() }
            try await acceptor.write([5])
            #expect(try await dialler.read(exactly: 1) == [5])
            await dialler.close()
            await #expect(throws: TransportError(.truncated)) { try await readAll(acceptor) }
        }
    }

    @Test("A write of a cancelled task is missing, so no end in order can be told either")
    func missesWrites() async throws {
        try await withStreams { dialler, acceptor in
            try await dialler.write([1])
            let writer = Task {
                withUnsafeCurrentTask { $0?.cancel() }
                try await dialler.write([2])
            }
            await #expect(throws: CancellationError.self) { try await writer.value }
            await dialler.close()
            #expect(try await acceptor.read(exactly: 1) == [1])
            await #expect(throws: TransportError(.truncated)) { try await acceptor.read(exactly: 1) }
        }
    }

    @Test("abort wakes a waiting read and a waiting write")
    func abortWakes() async throws {
        try await withStreams { dialler, _ in
            let reader = Task { try await dialler.read(exactly: 1) }
            let writer = Task { try await dialler.write([UInt8](repeating: 0, count: 64 << 20)) }
            #expect(await eventually { dialler.waitingCount == 2 })
            dialler.abort()
            await #expect(throws: TransportError(.closed)) { try await reader.value }
            await #expect(throws: TransportError(.closed)) { try await writer.value }
            #expect(dialler.socket == nil)
        }
    }

    @Test("A task that waits for a stream on which nothing moves is told after 30 s", arguments: [true, false])
    func timesOut(reads: Bool) async throws {
        let manual = ManualClock()
        try await withStreams(clock: manual.clock) { dialler, _ in
            // Nobody waits: nobody is told.
            manual.advance(by: .seconds(1000))
            let task = Task {
                if reads { return try await readAll(dialler) }
                try await dialler.write([UInt8](repeating: 0, count: 64 << 20))
                return []
            }
            try await manual.waitForSleep(of: StreamConnection.idleLimit)
            #expect(await eventually { dialler.waitingCount == 1 })
            manual.advance(by: .seconds(30))
            await #expect(throws: TransportError(.timedOut)) { try await task.value }
            await #expect(throws: TransportError(.timedOut)) { try await dialler.write([1]) }
        }
    }

    @Test("What moves in either direction puts the time-out off")
    func putsTimeoutOff() async throws {
        let manual = ManualClock()
        try await withStreams(clock: manual.clock) { dialler, acceptor in
            let reader = Task { try await readAll(dialler) }
            try await manual.waitForSleep(of: .seconds(30))
            manual.advance(by: .seconds(20))
            try await dialler.write([1])
            manual.advance(by: .seconds(10))
            try await manual.waitForSleep(of: .seconds(20))
            try await send([7], over: acceptor)
            #expect(try await reader.value == [7])
        }
    }
}
