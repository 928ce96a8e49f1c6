import HandoffSupport
import Testing

@Suite("The networks of this machine")
struct NetworkChangesTests {
    @Test("Loopback and link-local addresses belong to none, and the host's part is not in them")
    func current() throws {
        for network in NetworkChanges.current {
            #expect(network.interface != "lo")
            #expect([4, 16].contains(network.prefix.count))
            #expect(!(network.prefix[0] == 0xfe && network.prefix[1] & 0xc0 == 0x80))
        }
    }

    @Test("Watching can be given up")
    func cancelled() async throws {
        let changes = try NetworkChanges()
        let waiting = Task { try await changes.next() }
        waiting.cancel()
        await #expect(throws: CancellationError.self) { try await waiting.value }
    }
}
