import Dispatch
import Glibc
import HandoffSupport
import Testing

@Suite("Waiting for descriptors", .timeLimit(.minutes(1)))
struct PollerTests {
    /// Two sockets that are connected to each other.
    private final class Pair: Sendable {
        let near: FileDescriptor
        private let far: LockedBox<CInt>

        init() throws {
            var numbers: [CInt] = [-1, -1]
            let type = CInt(SOCK_STREAM.rawValue) | CInt(SOCK_NONBLOCK.rawValue)
            guard socketpair(AF_UNIX, type, 0, &numbers) == 0 else { throw SystemError("socketpair", code: errno) }
            near = FileDescriptor(owning: numbers[0])
            far = LockedBox(numbers[1])
        }

        deinit { hangUp() }

        func write() { far.withLock { _ = Glibc.write($0, "x", 1) } }

        /// Makes it wait for who reads.
        func fill() {
            let bytes = [UInt8](repeating: 0, count: 1 << 16)
            while send(near.number, bytes, bytes.count, CInt(MSG_DONTWAIT)) > 0 {}
        }

        func hangUp() {
            far.withLock { number in
                if number >= 0 { close(number) }
                number = -1
            }
        }
    }

    @Test("What is there to be read, and room to write, are told once each, and apart from each other")
    func tells() async throws {
        let pair = try Pair()
        try await Readiness.writable.wait(for: pair.near.number, of: pair)
        async let isRead: Void = Readiness.readable.wait(for: pair.near.number, of: pair)
        try await Readiness.writable.wait(for: pair.near.number, of: pair)
        pair.write()
        try await isRead
        // It was not taken, so it is still there.
        try await Readiness.readable.wait(for: pair.near.number, of: pair)
    }

    @Test("Who waits hears of a hang-up, reader and writer alike, and who comes later does at once")
    func tellsHangUps() async throws {
        let pair = try Pair()
        pair.fill()
        async let reader: Void = Readiness.readable.wait(for: pair.near.number, of: pair)
        async let writer: Void = Readiness.writable.wait(for: pair.near.number, of: pair)
        pair.hangUp()
        _ = try await (reader, writer)
        try await Readiness.readable.wait(for: pair.near.number, of: pair)
        try await Readiness.writable.wait(for: pair.near.number, of: pair)
    }

    @Test("A wait that is cancelled ends, before it has begun or after")
    func isCancelled() async throws {
        let pair = try Pair()
        for _ in 0..<100 {
            let waiting = Task { try await Readiness.readable.wait(for: pair.near.number, of: pair) }
            waiting.cancel()
            await #expect(throws: CancellationError.self) { try await waiting.value }
        }
        pair.write()
        try await Readiness.readable.wait(for: pair.near.number, of: pair)
    }

    @Test("A handler that is forgotten is not called, nor for another descriptor of the same number")
    func forgets() async throws {
        let queue = DispatchQueue(label: "test")
        let calls = LockedBox(0)
        for _ in 0..<100 {
            let pair = try Pair()
            Poller.shared.wait(for: .readable, of: pair.near.number, on: queue) { calls.withLock { $0 += 1 } }
            Poller.shared.forget(.readable, of: pair.near.number)
            pair.write()
        }
        let pair = try Pair()
        pair.write()
        try await Readiness.readable.wait(for: pair.near.number, of: pair)
        queue.sync {}
        #expect(calls.withLock { $0 } == 0)
    }

    @Test("Thousands of hang-ups in the moment that somebody begins or ends to wait harm nobody")
    func survivesHangUps() async throws {
        for round in 0..<3000 {
            let pair = try Pair()
            pair.fill()
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { try await Readiness.readable.wait(for: pair.near.number, of: pair) }
                group.addTask {
                    for _ in 0..<3 { try await Readiness.writable.wait(for: pair.near.number, of: pair) }
                }
                if round % 3 != 0 { await Task.yield() }
                pair.hangUp()
                try await group.waitForAll()
            }
        }
    }
}
