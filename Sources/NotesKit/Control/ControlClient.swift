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

    /// Asks for something and waits for the answer, at most a minute from one sign of life to the next: the peer's own
    /// deadlines are shorter.
    ///
    /// - Parameters:
    ///   - request: What it asks.
    ///   - tell: Told how far a long work is.
    /// - Throws: ``ControlFailure`` where the peer says no or goes away; `SystemError`, `CancellationError`.
    public func request(
        _ request: ControlRequest,
        tell: @Sendable (ProgressReport) -> Void = { _ in }
    ) async throws -> ControlReply {
        try await within(.seconds(60)) { try await socket.writeLine(Array(JSONEncoder().encode(request))) }
        while true {
            let line = try await within(.seconds(60)) { try await socket.readLine() }
            guard let line else { throw ControlFailure("the running peer went away") }
            switch try JSONDecoder().decode(ControlReply.self, from: Data(line)) {
            case .progress(let step): tell(step)
            case .failed(let message): throw ControlFailure(message)
            case let reply: return reply
            }
        }
    }

    private func within<Result: Sendable>(
        _ limit: Duration,
        _ body: @escaping @Sendable () async throws -> Result
    ) async throws -> Result {
        let silence = ControlFailure("the running peer does not answer: stop it (notes status shows its pid)")
        return try await withDeadline(limit, clock: .system, timeoutError: silence, operation: body)
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
