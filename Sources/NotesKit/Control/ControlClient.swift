import FoundationEssentials
import Glibc
public import Handoff

/// A command's connection to the running peer.
public struct ControlClient: Sendable {
    private let socket: LocalSocket

    /// Connects to the peer that runs here.
    ///
    /// - Parameter path: The peer's socket.
    /// - Returns: Nil where none runs.
    /// - Throws: `SystemError` where the socket cannot be used.
    public static func connect(to path: String) throws(SystemError) -> ControlClient? {
        do {
            return ControlClient(socket: try LocalSocket.connect(to: path))
        } catch  where error.code == ENOENT || error.code == ECONNREFUSED {
            return nil
        }
    }

    /// Asks for something and waits for the answer, at most a minute: the peer's own deadlines are shorter.
    ///
    /// - Throws: ``ControlFailure`` where the peer says no or goes away; `SystemError`, `CancellationError`.
    public func request(_ request: ControlRequest) async throws -> ControlReply {
        try await withDeadline(
            .seconds(60),
            clock: .system,
            timeoutError: ControlFailure("the running peer does not answer: stop it (notes status shows its pid)")
        ) {
            try await socket.writeLine(Array(JSONEncoder().encode(request)))
            guard let line = try await socket.readLine() else { throw ControlFailure("the running peer went away") }
            let reply = try JSONDecoder().decode(ControlReply.self, from: Data(line))
            if case .failed(let message) = reply { throw ControlFailure(message) }
            return reply
        }
    }
}

/// What the running peer could not do.
public struct ControlFailure: Error, Hashable, Sendable, CustomStringConvertible {
    /// Why, and what to do.
    public let message: String

    /// Makes a failure.
    public init(_ message: String) { self.message = message }

    /// The message.
    public var description: String { message }
}
