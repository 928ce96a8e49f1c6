public import HandoffModel
public import HandoffTransport

/// Messages on a stream, for apps that agree on something before, after or instead of raw bytes: frames as on links.
extension StreamConnection {
    /// The longest message that is read, encoded, in bytes.
    public static var maximumMessageSize: Int { StreamFrame.maximumBody }

    /// Writes one message.
    ///
    /// - Parameter message: A dictionary, at most ``maximumMessageSize`` bytes when it is encoded.
    /// - Throws: ``HandoffError/Code/invalidActivity`` where it cannot be encoded or is too long; what
    ///   `write` of bytes throws.
    public func write(_ message: [String: PropertyList]) async throws {
        guard let frame = StreamFrame.encode(message) else {
            throw HandoffError(.invalidActivity, "a message over a stream has \(Self.maximumMessageSize) bytes at most")
        }
        try await write(frame)
    }

    /// Reads one message, and nothing after it.
    ///
    /// - Returns: The message, of which nothing is sure; nil where the stream ended before it.
    /// - Throws: ``HandoffError/Code/handoffFailed`` for what is no message; what `read(exactly:)`
    ///   throws.
    public func readMessage() async throws -> [String: PropertyList]? {
        guard let header = try await read(exactly: 4) else { return nil }
        guard let length = StreamFrame.length(header), let body = try await read(exactly: length),
            let message = StreamFrame.decode(body)
        else { throw HandoffError(.handoffFailed, "what came over the stream is no message") }
        return message
    }
}
