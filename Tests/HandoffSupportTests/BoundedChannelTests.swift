import HandoffSupport
import HandoffTestKit
import Testing

@Suite("A bounded channel", .timeLimit(.minutes(1)))
struct BoundedChannelTests {
    @Test("What was sent before the end is delivered, then the error once")
    func deliversBeforeEnd() async throws {
        let channel = BoundedChannel<Int>(capacity: 2)
        #expect(try channel.offer(1))
        #expect(try channel.offer(2))
        #expect(try !channel.offer(3))
        channel.finish(throwing: CancellationError())
        channel.finish()
        #expect(throws: ChannelClosed()) { try channel.offer(4) }
        #expect(try await channel.next() == 1)
        #expect(try await channel.next() == 2)
        await #expect(throws: CancellationError.self) { try await channel.next() }
    }

    @Test("Many senders through a small channel lose and double nothing")
    func carriesAll() async throws {
        let channel = BoundedChannel<Int>(capacity: 3)
        let received = Task {
            var all: [Int] = []
            for try await element in channel { all.append(element) }
            return all
        }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for sender in 0..<8 {
                group.addTask { for number in 0..<500 { try await channel.send(sender * 500 + number) } }
            }
            try await group.waitForAll()
        }
        channel.finish()
        #expect(try await received.value.sorted() == Array(0..<4000))
    }

    @Test("Cancelling and finishing at once resumes everybody exactly once")
    func survivesRaces() async {
        for _ in 0..<500 {
            let channel = BoundedChannel<Int>(capacity: 1)
            let consumer = Task { try await channel.next() }
            let producers = (0..<3).map { number in Task { try await channel.send(number) } }
            async let finished: Void = channel.finish()
            consumer.cancel()
            producers[0].cancel()
            await finished
            _ = await consumer.result
            for producer in producers { _ = await producer.result }
        }
    }

    @Test("A cancelled sender leaves its place to the next")
    func passesRoomOn() async throws {
        let channel = BoundedChannel<Int>(capacity: 1)
        _ = try channel.offer(0)
        let first = Task { try await channel.send(1) }
        let second = Task { try await channel.send(2) }
        first.cancel()
        _ = await first.result
        #expect(try await channel.next() == 0)
        #expect(try await channel.next() == 2)
        try await second.value
    }
}
