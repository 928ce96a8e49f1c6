import FoundationEssentials
import Glibc

/// Whoever read standard output has gone; nothing to complain about, but there is no use in going on.
public struct OutputClosed: Error, Sendable {}

/// Standard output, which carries the result and nothing else.
public enum StandardOutput {
    /// Writes a text; it is with the reader when this returns.
    ///
    /// - Throws: ``OutputClosed`` where the reader has gone; ``CommandFailure`` where it cannot be written, a full disk
    ///   for example.
    public static func write(_ text: String) throws {
        try write(Array(text.utf8), to: STDOUT_FILENO)
    }

    /// Writes a value as one JSON document on one line.
    ///
    /// Keys are sorted and dates are in ISO 8601. A stream of events is one call for each.
    ///
    /// - Throws: As ``write(_:)`` does, and the encoder's errors.
    public static func writeJSON(_ value: some Encodable) throws {
        try write(Array(jsonLine(value)), to: STDOUT_FILENO)
    }

    static func jsonLine(_ value: some Encodable) throws -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        encoder.dateEncodingStrategy = .iso8601
        return try encoder.encode(value) + Data([UInt8(ascii: "\n")])
    }

    static func write(_ bytes: [UInt8], to descriptor: CInt) throws {
        var written = 0
        while written < bytes.count {
            let count = bytes[written...].withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            let code = errno
            if count >= 0 {
                written += count
            } else if code == EAGAIN {
                // Someone made the terminal or pipe non-blocking: wait until there is room.
                var descriptors = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                poll(&descriptors, 1, -1)
            } else if code == EPIPE {
                throw OutputClosed()
            } else if code != EINTR {
                throw CommandFailure("cannot write the result: \(String(cString: strerror(code)))")
            }
        }
    }
}

/// Standard error, which carries all that is not the result.
public enum StandardError {
    /// Writes a text; that it cannot be written is nothing one could report.
    public static func write(_ text: String) {
        try? StandardOutput.write(Array(text.utf8), to: STDERR_FILENO)
    }
}
