import Glibc
import HandoffSupport
import HandoffTestKit
import Testing

@testable import HandoffTransport

@Suite("A stream's end", .timeLimit(.minutes(1)))
struct StreamEndTests {
    /// Where the ciphertext of three records and a close_notify is cut, as a distance from some record's start.
    static let cuts = [
        (0, 0), (0, 1), (0, 4), (0, 5), (0, 9000), (1, -1), (1, 0), (1, 1), (2, 0), (2, 6), (3, 0), (3, 23),
    ]

    @Test("An end without close_notify is a truncation, at each record's boundary and within", arguments: cuts)
    func seesTruncation(record: Int, offset: Int) async throws {
        let door = try await Door.open(try makeContext())
        let peer = try await BarePeer(dialling: door.addresses[0], context: try makeContext())
        let stream = try await door.nextConnection().makeStream()
        let length = 16_384
        let bytes = pattern(3 * length, seed: 5)
        let ciphertext = try peer.encrypt(bytes)
        let sealed = ciphertext.count / 3
        #expect(ciphertext.count == 3 * sealed)
        let whole = ciphertext + peer.sayEnd()
        #expect(whole.count == 3 * sealed + 24)
        let cut = record * sealed + offset
        try await peer.send(whole[..<cut])
        peer.socket.shutDownWriting()
        var received: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: length)
        await #expect(throws: TransportError(.truncated)) {
            while case let count = try await stream.read(into: &buffer), count > 0 { received += buffer[..<count] }
        }
        #expect(received == Array(bytes[..<(cut / sealed * length)]))
        await door.listener.close()
    }

    @Test("The same bytes with their close_notify are whole")
    func seesEnd() async throws {
        let door = try await Door.open(try makeContext())
        let peer = try await BarePeer(dialling: door.addresses[0], context: try makeContext())
        let stream = try await door.nextConnection().makeStream()
        let bytes = pattern(3 * 16_384, seed: 5)
        try await peer.send(try peer.encrypt(bytes) + peer.sayEnd())
        #expect(try await readAll(stream) == bytes)
        await door.listener.close()
    }

    @Test("What came whole before a reset is read whole, though writing has failed")
    func readsBehindReset() async throws {
        let door = try await Door.open(try makeContext())
        var peer: BarePeer? = try await BarePeer(dialling: door.addresses[0], context: try makeContext())
        let stream = try await door.nextConnection().makeStream()
        let bytes = pattern(3 * 16_384, seed: 7)
        try await peer?.send((try peer?.encrypt(bytes) ?? []) + (peer?.sayEnd() ?? []))
        try await stream.write([1])
        peer = nil  // with an unread byte in its socket: a reset
        let error = await failure { while true { try await stream.write([1]) } } as? TransportError
        #expect(error?.code == .truncated)
        await #expect(throws: TransportError(.truncated)) { try await stream.finish() }
        #expect(try await readAll(stream) == bytes)
        await door.listener.close()
    }

    @Test("Bytes that were changed on their way end the stream")
    func seesForgery() async throws {
        let door = try await Door.open(try makeContext())
        let peer = try await BarePeer(dialling: door.addresses[0], context: try makeContext())
        let stream = try await door.nextConnection().makeStream()
        var ciphertext = try peer.encrypt([1, 2, 3])
        ciphertext[ciphertext.count - 1] ^= 1
        try await peer.send(ciphertext)
        await #expect(throws: TransportError(.tlsFailure)) { try await readAll(stream) }
        await #expect(throws: TransportError(.tlsFailure)) { try await stream.write([1]) }
        await door.listener.close()
    }

    @Test("close delivers everything that was written, however slow the reader, and may be said again")
    func closeDelivers() async throws {
        try await withStreams { dialler, acceptor in
            let bytes = pattern(1 << 20, seed: 6)
            async let closing: Void = {
                try await acceptor.write(bytes)
                async let again: Void = acceptor.close()
                await acceptor.close()
                await again
            }()
            try await dialler.write([1])  // never read: a reset would overtake the last bytes
            #expect(try await readAll(dialler) == bytes)
            await dialler.close()
            try await closing
            await #expect(throws: TransportError(.closed)) { try await acceptor.write([1]) }
            await #expect(throws: TransportError(.closed)) { try await acceptor.read(exactly: 1) }
        }
    }

    @Test("A caller that is cancelled still closes in order")
    func closesWhenCancelled() async throws {
        try await withStreams { dialler, acceptor in
            try await dialler.write([1])
            let closing = Task {
                withUnsafeCurrentTask { $0?.cancel() }
                await dialler.close()
            }
            #expect(try await readAll(acceptor) == [1])
            await acceptor.close()
            await closing.value
        }
    }

    @Test("close during a write is no end in order")
    func closesDuringWrite() async throws {
        try await withStreams { dialler, acceptor in
            let writer = Task { try await dialler.write([UInt8](repeating: 0, count: 64 << 20)) }
            #expect(await eventually { dialler.waitingCount == 1 })
            await dialler.close()
            await #expect(throws: TransportError(.closed)) { try await writer.value }
            await #expect(throws: TransportError(.truncated)) { try await readAll(acceptor) }
        }
    }

    @Test("abort, a reset and letting go are truncations at the other end")
    func abortTruncates() async throws {
        let door = try await Door.open(try makeContext())
        let context = try makeContext()
        var pair = try await door.streams(context)
        pair.acceptor.abort()
        await #expect(throws: TransportError(.truncated)) { try await readAll(pair.dialler) }

        pair = try await door.streams(context)
        let dialler = pair.dialler
        pair = try await door.streams(context)
        await #expect(throws: TransportError(.truncated)) { try await readAll(dialler) }

        let (writer, reader) = pair
        let writing = Task { while true { try await writer.write([UInt8](repeating: 0, count: 1 << 20)) } }
        _ = try await reader.read(exactly: 1)
        reader.abort()  // with unread bytes in its socket: a reset
        await #expect(throws: TransportError(.truncated)) { try await writing.value }
        await door.listener.close()
    }
}

@Suite("Many streams", .timeLimit(.minutes(10)))
struct ManyStreamsTests {
    @Test("200 streams one after the other leave no file descriptor behind")
    func leavesNoDescriptor() async {
        await #expect(processExitsWith: .success) { try await run(streams: 200) }
    }

    @Test("10,000 streams one after the other do not either", .enabled(if: getenv("HANDOFF_LONG_TESTS") != nil))
    func longLeavesNoDescriptor() async {
        await #expect(processExitsWith: .success) { try await run(streams: 10_000) }
    }
}

/// Opens, uses and closes so many streams, and looks what is left of them.
private func run(streams count: Int) async throws {
    let context = try makeContext()
    let door = try await Door.open(try makeContext())
    func run() async throws {
        let (dialler, acceptor) = try await door.streams(context)
        async let echo: Void = {
            try await send(try await readAll(acceptor), over: acceptor)
            await acceptor.close()
        }()
        try await send([1], over: dialler)
        guard try await readAll(dialler) == [1] else { throw TransportError(.closed) }
        await dialler.close()
        try await echo
    }
    try await run()
    let before = openDescriptors()
    for _ in 0..<count { try await run() }
    // Dispatch lets go of a socket a moment after its last event.
    guard await eventually({ openDescriptors() <= before }) else { throw TransportError(.tooManyConnections) }
}
