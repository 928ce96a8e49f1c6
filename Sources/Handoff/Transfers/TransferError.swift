public import HandoffSupport

/// Why a file could not be sent or received; the message says what to do about it.
///
/// Two errors are equal when their codes are.
public struct TransferError: Error, Equatable, CustomStringConvertible {
    /// The kind of failure.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        private enum Value: String {
            case notAFile, sourceChanged, invalidSize, busy, diskFull, targetExists, targetUnusable
            case incomplete, tooLong, digestMismatch, inputOutput, closed
        }

        private let value: Value

        private init(_ value: Value) { self.value = value }

        /// What is to be sent is a directory, a pipe, a device or a socket.
        public static let notAFile = Code(.notAFile)
        /// The file that is sent was changed, cut or replaced meanwhile.
        public static let sourceChanged = Code(.sourceChanged)
        /// The size that a peer told is negative or over ``IncomingFile/maximumSize``.
        public static let invalidSize = Code(.invalidSize)
        /// Another transfer writes the same content to the same directory.
        public static let busy = Code(.busy)
        /// The receiver's disk is full; what came is kept, and the transfer can go on from there.
        public static let diskFull = Code(.diskFull)
        /// There is a file of the target's name, which is left as it is.
        public static let targetExists = Code(.targetExists)
        /// The partial file or the target cannot be made where it should be.
        public static let targetUnusable = Code(.targetUnusable)
        /// Content is missing at the end; what came is kept.
        public static let incomplete = Code(.incomplete)
        /// The peer sent more than the size it told.
        public static let tooLong = Code(.tooLong)
        /// What came is not what was agreed on, and was discarded.
        public static let digestMismatch = Code(.digestMismatch)
        /// The system would not read or write; the cause has its reason.
        public static let inputOutput = Code(.inputOutput)
        /// The transfer was committed, discarded or closed before.
        public static let closed = Code(.closed)

        /// The code's name.
        public var description: String { value.rawValue }
    }

    /// The kind of failure.
    public let code: Code
    /// One line that says what is wrong and what to do.
    public let description: String
    /// How many bytes more the disk would need, for ``Code/diskFull``; nil where that is not known.
    public let missingBytes: Int64?
    /// The failed system call behind it.
    public let cause: SystemError?

    init(_ code: Code, _ description: String, missingBytes: Int64? = nil, cause: SystemError? = nil) {
        self.code = code
        self.description = description
        self.missingBytes = missingBytes
        self.cause = cause
    }

    /// Two errors are equal when their codes are.
    public static func == (left: TransferError, right: TransferError) -> Bool { left.code == right.code }
}

extension TransferError {
    static func sourceChanged(_ path: String) -> TransferError {
        TransferError(.sourceChanged, "\(path) was changed while it was read: try again when nothing writes it")
    }

    static func diskFull(_ directory: String, missing bytes: Int64, cause: SystemError? = nil) -> TransferError {
        TransferError(
            .diskFull,
            "no room in \(directory): \(bytes) bytes more are needed; free some space and try again",
            missingBytes: bytes,
            cause: cause
        )
    }

    /// A failed call on a file, in the words of the call.
    static func inputOutput(_ cause: SystemError) -> TransferError {
        TransferError(.inputOutput, "cannot \(cause): check the file, its directory and the disk", cause: cause)
    }
}

/// Does something with a file, and throws what the system says against it as an error of ours.
func system<Result: ~Copyable>(
    _ body: () throws(SystemError) -> Result
) throws(TransferError) -> Result {
    do throws(SystemError) {
        return try body()
    } catch {
        throw .inputOutput(error)
    }
}
