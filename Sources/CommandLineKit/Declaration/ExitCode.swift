/// What a command tells its caller.
public enum ExitCode: Int32, Sendable {
    /// The command did what it was asked to.
    case done = 0
    /// It could not; the reason is on stderr.
    case failed = 1
    /// It was called in a way it does not understand.
    case usage = 2
    /// It needs the running peer, and there is none.
    case peerNotRunning = 3
}

/// A failure that ends a command: a message for stderr, and the exit code.
public struct CommandFailure: Error, Sendable, CustomStringConvertible {
    /// What went wrong and what to do about it, without the program's name.
    public let message: String
    /// What the caller is told.
    public let exitCode: ExitCode

    /// Makes a failure.
    ///
    /// - Parameters:
    ///   - message: What went wrong and what to do about it.
    ///   - exitCode: What the caller is told.
    public init(_ message: String, exitCode: ExitCode = .failed) {
        self.message = message
        self.exitCode = exitCode
    }

    /// A call that is not understood.
    public static func usage(_ message: String) -> CommandFailure {
        CommandFailure(message, exitCode: .usage)
    }

    /// The message.
    public var description: String { message }
}
