import Foundation
import Glibc
import HandoffSupport

/// What a command came to.
struct Outcome: Sendable, CustomStringConvertible {
    let status: Int32
    let output: String
    let errors: String

    var description: String { "status \(status)\n\(output)\(errors)" }
}

/// A command that did not do what a test waits for.
struct CommandProblem: Error, CustomStringConvertible {
    let description: String
}

/// A process that was started, with what it has written so far.
final class RunningCommand: Sendable {
    /// What one of its streams has brought, and a signal at each change.
    private final class Stream: Sendable {
        private let bytes = LockedBox<[UInt8]>([])
        private let changes = BoundedChannel<Void>(capacity: 1)

        /// As a whole: a character may have come in two parts.
        var soFar: String { String(decoding: bytes.withLock { $0 }, as: UTF8.self) }

        /// Reads to the end, on a thread of its own since it blocks.
        func follow(_ descriptor: CInt) {
            Thread.detachNewThread { [self] in
                var buffer = [UInt8](repeating: 0, count: 4096)
                while true {
                    let count = read(descriptor, &buffer, buffer.count)
                    guard count > 0 else { break }
                    bytes.withLock { $0 += buffer[..<count] }
                    _ = try? changes.offer(())
                }
                close(descriptor)
                changes.finish()
            }
        }

        /// Waits until a value can be read out of the text, or the stream has ended.
        func value<Value: Sendable>(_ read: @Sendable (String) -> Value?) async throws -> Value? {
            while true {
                if let value = read(soFar) { return value }
                guard try await changes.next() != nil else { return read(soFar) }
            }
        }
    }

    private let process: pid_t
    /// The writing end of its standard input, until that is ended; nil where it reads `/dev/null`.
    private let input: LockedBox<CInt?>
    private let output = Stream()
    private let errors = Stream()
    private let statuses = BoundedChannel<Int32>(capacity: 1)
    private let name: String

    /// Starts a command.
    ///
    /// Not by Foundation's `Process`, which takes a command for running as long as a daemon lives that it has left
    /// behind.
    ///
    /// - Parameter isTypedTo: Whether its standard input is what ``type(_:)`` writes; else it is empty.
    init(_ command: [String], environment: [String: String], directory: String, isTypedTo: Bool = false) throws {
        name = command.joined(separator: " ")
        var (outputEnds, errorEnds): ([CInt], [CInt]) = ([0, 0], [0, 0])
        guard pipe(&outputEnds) == 0, pipe(&errorEnds) == 0 else { throw SystemError("make a pipe", code: errno) }
        for end in outputEnds + errorEnds { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        defer { for end in [outputEnds[1], errorEnds[1]] { close(end) } }
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        var inputEnds: [CInt] = [-1, -1]
        if isTypedTo {
            guard pipe(&inputEnds) == 0 else { throw SystemError("make a pipe", code: errno) }
            for end in inputEnds { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
            posix_spawn_file_actions_adddup2(&actions, inputEnds[0], STDIN_FILENO)
        } else {
            posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0)
        }
        defer { if isTypedTo { close(inputEnds[0]) } }
        input = LockedBox(isTypedTo ? inputEnds[1] : nil)
        posix_spawn_file_actions_adddup2(&actions, outputEnds[1], STDOUT_FILENO)
        posix_spawn_file_actions_adddup2(&actions, errorEnds[1], STDERR_FILENO)
        // `env` changes the directory and becomes the command.
        let env = "/usr/bin/env"
        var arguments = ([env, "--chdir=\(directory)"] + command).map { strdup($0) } + [nil]
        var variables = environment.map { strdup("\($0.key)=\($0.value)") } + [nil]
        defer { for pointer in arguments + variables { free(pointer) } }
        var process: pid_t = 0
        let code = posix_spawn(&process, env, &actions, nil, &arguments, &variables)
        guard code == 0 else {
            for end in [outputEnds[0], errorEnds[0]] { close(end) }
            throw SystemError("start \(name)", code: code)
        }
        self.process = process
        output.follow(outputEnds[0])
        errors.follow(errorEnds[0])
        Thread.detachNewThread { [statuses, process] in
            var status: CInt = 0
            while waitpid(process, &status, 0) < 0, errno == EINTR {}
            // As a shell tells it: what it exited with, or 128 and the signal that ended it.
            let signal = status & 0x7f
            _ = try? statuses.offer(signal == 0 ? status >> 8 & 0xff : 128 + signal)
        }
    }

    /// Waits for a line, on standard output or standard error, that holds a text; it may go on after that.
    func line(holding text: String, onErrors: Bool = false, within limit: Duration = .seconds(20)) async throws {
        _ = try await find(text, on: onErrors ? errors : output, within: limit) { $0.contains(text) ? "" : nil }
    }

    /// Waits for a whole line on standard output that holds a text.
    func wholeLine(holding text: String) async throws -> String {
        try await find(text, on: output, within: .seconds(20)) { soFar in
            soFar.split(separator: "\n", omittingEmptySubsequences: false).dropLast().first { $0.contains(text) }
                .map { String($0) }
        }
    }

    private func find(
        _ text: String,
        on stream: Stream,
        within limit: Duration,
        _ read: @escaping @Sendable (String) -> String?
    ) async throws -> String {
        let found = try await withDeadline(limit, clock: .system, timeoutError: problem("did not write “\(text)”")) {
            try await stream.value(read)
        }
        guard let found else { throw problem("ended without writing “\(text)”") }
        return found
    }

    /// Waits for its end.
    func outcome(within limit: Duration = .seconds(30)) async throws -> Outcome {
        try await withDeadline(limit, clock: .system, timeoutError: problem("did not end within \(limit)")) { [self] in
            guard let status = try await statuses.next() else { throw problem("has no status") }
            _ = try await output.value { _ in nil as Bool? }
            _ = try await errors.value { _ in nil as Bool? }
            return Outcome(status: status, output: output.soFar, errors: errors.soFar)
        }
    }

    deinit { endInput() }

    /// Types a line into it.
    func type(_ line: String) {
        let bytes = Array((line + "\n").utf8)
        input.withLock { input in
            // One that has ended reads no more; what came of it is told by its outcome.
            if let input { _ = write(input, bytes, bytes.count) }
        }
    }

    /// Ends its standard input, as Ctrl-D does.
    func endInput() {
        input.withLock { input in
            if let end = input { close(end) }
            input = nil
        }
    }

    /// Asks it to end, as Ctrl-C does.
    func interrupt() { Glibc.kill(process, SIGINT) }

    /// Ends it without a word to anybody.
    func kill() { Glibc.kill(process, SIGKILL) }

    private func problem(_ text: String) -> CommandProblem {
        CommandProblem(description: "\(name) \(text)\n\(output.soFar)\(errors.soFar)")
    }
}
