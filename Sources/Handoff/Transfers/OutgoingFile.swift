public import HandoffSupport
import HandoffTransport

/// A file that is sent: its size and digest, its content by ranges, and whether it is still the same file.
///
/// Size and digest are what both ends agree on. A file that is changed while it is sent is noticed here at the next
/// range that is read, and in any case by the receiver, who compares the digest.
public actor OutgoingFile {
    /// Where the file is.
    public nonisolated let path: String
    /// Its length in bytes.
    public nonisolated let size: Int64

    private nonisolated let file: DiskFile
    private nonisolated let opened: FileStatus
    /// Whether the file is ours, and not one that other programs may work with.
    private nonisolated let isOwn: Bool
    private nonisolated let feed = ProgressFeed()
    private nonisolated let executor: QueueExecutor
    private var knownDigest: ContentDigest?

    /// The queue that hashing and reading block on.
    public nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    /// How far hashing and reading are, for one reader; ends with the last reference to the file.
    public nonisolated var progress: AsyncStream<TransferProgress> { feed.stream }

    /// Opens a file that the user named; symbolic links are followed.
    ///
    /// - Parameter path: Where it is.
    /// - Returns: The file; its digest is not known yet.
    /// - Throws: ``TransferError`` `notAFile`, or `inputOutput` where it cannot be opened.
    public static func open(_ path: String) async throws -> OutgoingFile {
        try await open(path, for: .reading, digest: nil)
    }

    /// Opens a file that is stored by its digest.
    ///
    /// - Parameters:
    ///   - path: Where it is; a symbolic link is an error.
    ///   - digest: Its digest, which was checked when it was stored.
    /// - Returns: The file.
    /// - Throws: ``TransferError`` `notAFile`, or `inputOutput` where it cannot be opened.
    public static func open(stored path: String, digest: ContentDigest) async throws -> OutgoingFile {
        try await open(path, for: .readingOwn, digest: digest)
    }

    private static func open(
        _ path: String,
        for access: DiskFile.Access,
        digest: ContentDigest?
    ) async throws -> OutgoingFile {
        let executor = QueueExecutor(label: "handoff.outgoing-file")
        return try await executor.run { try OutgoingFile(path, for: access, digest: digest, executor: executor) }
    }

    private init(
        _ path: String,
        for access: DiskFile.Access,
        digest: ContentDigest?,
        executor: QueueExecutor
    ) throws(TransferError) {
        do throws(SystemError) {
            file = try DiskFile(path, for: access)
            opened = try file.status()
        } catch {
            throw .inputOutput(error)
        }
        guard opened.isRegular else {
            throw TransferError(.notAFile, "\(path) is not a file with content: name a regular file")
        }
        self.path = path
        size = opened.size
        isOwn = access == .readingOwn
        knownDigest = digest
        self.executor = executor
    }

    deinit {
        feed.finish()
    }

    /// The SHA-256 digest of the whole file, computed at the first call unless it was known.
    ///
    /// - Throws: ``TransferError`` `sourceChanged`, `inputOutput`; `CancellationError`.
    public func digest() throws -> ContentDigest {
        if let knownDigest { return knownDigest }
        let digest = try hash(size)
        knownDigest = digest
        return digest
    }

    /// Whether a receiver has the beginning of this file, so that it can be sent from there on.
    ///
    /// - Parameter point: What the receiver told; anything may be in it.
    /// - Returns: False for a length that is negative or over ``size``, and for any other content.
    /// - Throws: ``TransferError`` `sourceChanged`, `inputOutput`; `CancellationError`.
    public func begins(with point: ResumePoint) throws -> Bool {
        guard (0...size).contains(point.offset) else { return false }
        return try hash(point.offset) == point.digest
    }

    /// Reads a range into a buffer; blocks, for callers that have a queue of their own.
    ///
    /// - Parameters:
    ///   - buffer: Filled as far as the file goes.
    ///   - offset: Where the range begins; from 0 to ``size``.
    /// - Returns: How many bytes were read, fewer than the buffer has only at the end of the file.
    /// - Throws: ``TransferError`` `sourceChanged` where the file is not what it was when it was opened; `inputOutput`.
    public nonisolated func read(
        into buffer: UnsafeMutableRawBufferPointer,
        at offset: Int64
    ) throws(TransferError) -> Int {
        precondition((0...size).contains(offset), "a range begins outside of the file")
        let wanted = Int(min(Int64(buffer.count), size - offset))
        let (count, status) = try system { () throws(SystemError) in
            let count = try file.read(into: UnsafeMutableRawBufferPointer(rebasing: buffer[..<wanted]), at: offset)
            // After reading, so that what was read is of the file that was opened.
            return (count, try file.status())
        }
        guard count == wanted, status == opened else { throw .sourceChanged(path) }
        if isOwn { file.letGo(behind: offset..<offset + Int64(count)) }
        feed.tell(.moving, offset + Int64(count), of: size)
        return count
    }

    /// Reads a range.
    ///
    /// - Parameters:
    ///   - count: How many bytes at most.
    ///   - offset: Where the range begins; from 0 to ``size``.
    /// - Returns: The bytes, fewer than `count` only at the end of the file.
    /// - Throws: As ``read(into:at:)`` does.
    public func read(_ count: Int, at offset: Int64) throws -> [UInt8] {
        let room = Int(min(Int64(count), size - offset))
        return try [UInt8](unsafeUninitializedCapacity: max(room, 0)) { buffer, initialized in
            initialized = try read(into: UnsafeMutableRawBufferPointer(buffer), at: offset)
        }
    }

    private func hash(_ length: Int64) throws -> ContentDigest {
        var hasher = SHA256()
        do {
            let count = try file.hash(length, into: &hasher, isOwn: isOwn) { feed.tell(.checking, $0, of: length) }
            guard count == length, try file.status() == opened else { throw TransferError.sourceChanged(path) }
        } catch let error as SystemError {
            throw TransferError.inputOutput(error)
        }
        return hasher.digest
    }
}
