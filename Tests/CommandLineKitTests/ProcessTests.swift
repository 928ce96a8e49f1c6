import FoundationEssentials
import Glibc
import Testing

@testable import CommandLineKit

@Suite("A command's process")
struct ProcessTests {
    @Test("goes on quietly to its end when its reader has gone")
    func brokenPipe() throws {
        SignalStream.ignoreBrokenPipes()
        var ends: [CInt] = [0, 0]
        try #require(pipe(&ends) == 0)
        close(ends[0])
        defer { close(ends[1]) }
        #expect(throws: OutputClosed.self) { try StandardOutput.write([1], to: ends[1]) }
    }

    @Test("says so when its result does not fit on the disk")
    func fullDisk() throws {
        let full = open("/dev/full", O_WRONLY)
        try #require(full >= 0)
        defer { close(full) }
        let failure = #expect(throws: CommandFailure.self) { try StandardOutput.write([1], to: full) }
        #expect(failure?.message == "cannot write the result: No space left on device")
        #expect(failure?.exitCode == .failed)
    }

    @Test("hears the signals that ask it to end", .timeLimit(.minutes(1)))
    func signals() async {
        await #expect(processExitsWith: .exitCode(42)) {
            let signals = await SignalStream.open()
            kill(getpid(), SIGTERM)
            var iterator = signals.makeAsyncIterator()
            let first = await iterator.next()
            kill(getpid(), SIGINT)
            let second = await iterator.next()
            exit(first == SIGTERM && second == SIGINT ? 42 : 1)
        }
    }
}

@Suite("The programs' directories")
struct HandoffPathsTests {
    private func paths(_ environment: [String: String]) throws -> [String] {
        let paths = try HandoffPaths(environment: environment)
        return [paths.configuration, paths.data, paths.state, paths.runtime]
    }

    @Test("are those of the XDG specification")
    func defaults() throws {
        let expected = [
            "/h/.config/handoff", "/h/.local/share/handoff", "/h/.local/state/handoff", "/h/.local/state/handoff/run",
        ]
        #expect(try paths(["HOME": "/h"]) == expected)
        let relative = ["XDG_CONFIG_HOME": "c", "XDG_DATA_HOME": "", "XDG_STATE_HOME": "./s", "XDG_RUNTIME_DIR": "r"]
        #expect(try paths(relative.merging(["HOME": "/h"]) { $1 }) == expected)
        let moved = [
            "XDG_CONFIG_HOME": "/c", "XDG_DATA_HOME": "/d", "XDG_STATE_HOME": "/s", "XDG_RUNTIME_DIR": "/r",
        ]
        #expect(try paths(moved) == ["/c/handoff", "/d/handoff", "/s/handoff", "/r/handoff"])
    }

    @Test("move together with HANDOFF_HOME")
    func home() throws {
        #expect(try paths(["HANDOFF_HOME": "/x", "HOME": "/h"]) == ["/x/config", "/x/data", "/x/state", "/x/run"])
        #expect(throws: CommandFailure.self) { try paths(["HANDOFF_HOME": "x"]) }
        #expect(throws: CommandFailure.self) { try paths([:]) }
    }

    @Test("have sockets whose paths the kernel takes")
    func socket() throws {
        let longest = try HandoffPaths(environment: ["HANDOFF_HOME": "/" + String(repeating: "x", count: 95)])
        #expect(try longest.socket("notes").utf8.count == 106)
        #expect(try longest.socket("notes2").utf8.count == HandoffPaths.maximumSocketPathBytes)
        #expect(throws: CommandFailure.self) { try longest.socket("notes23") }
    }

    @Test("are made for the user alone, and refused where they are open to others")
    func runtimeDirectory() throws {
        var template = Array("\(FileManager.default.temporaryDirectory.path)/paths-XXXXXX".utf8CString)
        let root = try String(cString: #require(mkdtemp(&template)))
        defer { try? FileManager.default.removeItem(atPath: root) }
        let paths = try HandoffPaths(environment: ["HANDOFF_HOME": root + "/a/b"])
        try paths.makeRuntimeDirectory()
        try paths.makeRuntimeDirectory()
        var status = stat()
        #expect(stat(paths.runtime, &status) == 0 && status.st_mode & 0o777 == 0o700)
        try #require(chmod(paths.runtime, 0o755) == 0)
        let failure = #expect(throws: CommandFailure.self) { try paths.makeRuntimeDirectory() }
        #expect(failure?.message.contains("chmod 700") == true)
    }
}
