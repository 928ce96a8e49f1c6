/// The form in which control messages follow each other on a connection: a length, then as many bytes.
///
/// The length is an unsigned number of 4 bytes, big-endian, and does not count itself.
public enum Frame {
    /// The longest body, in bytes (docs/protocol.md, "Frames").
    public static let maximumBody = 1 << 20

    static let headerLength = 4

    /// Puts a body into a frame.
    ///
    /// - Throws: ``FrameError`` where the body is empty or longer than ``maximumBody``.
    public static func encode(_ body: [UInt8]) throws(FrameError) -> [UInt8] {
        try check(length: UInt64(body.count))
        var frame: [UInt8] = []
        frame.reserveCapacity(headerLength + body.count)
        for shift in [24, 16, 8, 0] { frame.append(UInt8(truncatingIfNeeded: body.count >> shift)) }
        frame += body
        return frame
    }

    static func check(length: UInt64) throws(FrameError) {
        if length == 0 { throw FrameError(.empty, "a frame without a body") }
        if length > maximumBody { throw FrameError(.tooLong, "a frame of \(length) bytes; \(maximumBody) are allowed") }
    }
}

/// Takes frames out of the bytes of a connection, however these were cut into pieces.
///
/// It holds what was appended and not yet taken: where ``next()`` is called until it returns nil after each piece,
/// that is less than one frame. After an error it stays failed, since nothing tells where the next frame begins.
public struct FrameDecoder: Sendable {
    private var buffer: [UInt8] = []
    /// Where the bytes that were not taken yet begin.
    private var start = 0
    private var failure: FrameError?

    /// Makes a decoder for a connection's first byte.
    public init() {}

    /// Adds what came in; after an error it is dropped.
    public mutating func append(_ bytes: [UInt8]) {
        guard failure == nil else { return }
        if start == buffer.count {
            // Nothing is left of what came before: its memory is given back, and nothing is copied.
            buffer = bytes
            start = 0
            return
        }
        // Moving the rest to the front costs no more than what has been taken since it was last moved.
        if start >= buffer.count - start {
            buffer.removeFirst(start)
            start = 0
        }
        buffer += bytes
    }

    /// Takes the next body.
    ///
    /// - Returns: The body, or nil until more bytes are appended.
    /// - Throws: ``FrameError`` as soon as a length is known to be wrong, and at every call from then on.
    public mutating func next() throws(FrameError) -> [UInt8]? {
        if let failure { throw failure }
        let available = buffer.count - start
        guard available >= Frame.headerLength else { return nil }
        let length = buffer[start..<start + Frame.headerLength].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        do {
            try Frame.check(length: length)
        } catch {
            failure = error
            buffer = []
            start = 0
            throw error
        }
        let frameLength = Frame.headerLength + Int(length)
        guard available >= frameLength else { return nil }
        let body = Array(buffer[start + Frame.headerLength..<start + frameLength])
        start += frameLength
        return body
    }
}

/// A frame's length that is not allowed.
public struct FrameError: Error, Equatable, CustomStringConvertible {
    /// The kinds of failure.
    public struct Code: Hashable, Sendable {
        private enum Kind { case empty, tooLong }

        private let kind: Kind

        /// A frame without a body.
        public static let empty = Code(kind: .empty)
        /// A body longer than ``Frame/maximumBody``.
        public static let tooLong = Code(kind: .tooLong)
    }

    /// The kind of failure.
    public let code: Code
    /// What is wrong.
    public let message: String

    init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    /// Two failures are equal when their kind is.
    public static func == (left: FrameError, right: FrameError) -> Bool { left.code == right.code }

    /// What is wrong.
    public var description: String { message }
}
