import Glibc
import HandoffSupport
import Testing

@Suite("A local socket")
struct LocalSocketTests {
    private struct TimedOut: Error {}

    @Test("A process that runs out of descriptors goes on listening, and takes connections again when it has some")
    func survivesExhaustion() async {
        await #expect(processExitsWith: .success) {
            var limit = rlimit(rlim_cur: 64, rlim_max: 64)
            setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
            let path = "/tmp/handoff-test-\(getpid()).socket"
            defer { unlink(path) }
            let listener = try LocalSocket.listen(at: path)
            // What Dispatch needs descriptors for, it has from now on.
            _ = try LocalSocket.connect(to: path)
            _ = try await listener.accept()
            var fillers: [CInt] = []
            while case let filler = dup(0), filler >= 0 { fillers.append(filler) }
            close(fillers.removeLast())
            let client = try LocalSocket.connect(to: path)
            await #expect(throws: TimedOut.self) {
                try await withDeadline(.milliseconds(300), clock: .system, timeoutError: TimedOut()) {
                    try await listener.accept()
                }
            }
            for filler in fillers { close(filler) }
            _ = try await listener.accept()
            withExtendedLifetime(client) {}
        }
    }
}
