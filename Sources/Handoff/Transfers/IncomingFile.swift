public import HandoffSupport
import HandoffTransport

/// A file that is received: written beside its target, checked as a whole, and only then given its name.
///
/// What has come survives the end of the process and of the machine: the next try finds it, tells the sender how much of
/// the beginning it is and what its digest is, and goes on from there. Nothing is ever seen under the target's name but
/// the whole file, checked and on the disk.
///
/// The target is a path of the app's choice. A name that came from a peer is for people to read, never a path.
public actor IncomingFile {
    /// The largest size that is taken from a peer (4 EiB): below it, no sum of sizes and offsets overflows.
    public static let maximumSize: Int64 = 1 << 62

    /// Where the file is to be.
    public nonisolated let target: String
    /// Its length in bytes, as agreed.
    public nonisolated let size: Int64
    /// Its digest, as agreed.
    public nonisolated let digest: ContentDigest

    private nonisolated let feed = ProgressFeed()
    private nonisolated let executor: QueueExecutor
    private let replacesTarget: Bool
    private var partial: PartialFile?
    private var hasher = SHA256()
    /// How many bytes are written and hashed.
    private var offset: Int64 = 0
    private var hasCheckedPartial = false

    /// The queue that hashing and writing block on.
    public nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    /// How far checking and receiving are, for one reader; ends with the last reference to the file.
    public nonisolated var progress: AsyncStream<TransferProgress> { feed.stream }

    /// Begins to receive a file, or goes on with what an earlier try has left.
    ///
    /// - Parameters:
    ///   - target: Where it is to be; the directory exists, and the partial file is made in it.
    ///   - size: Its length in bytes, as the sender told.
    ///   - digest: Its digest, as the sender told.
    ///   - replacesTarget: Whether a file of that name is replaced; otherwise it is an error, now and at the end.
    /// - Returns: The file, of which nothing was read yet.
    /// - Throws: ``TransferError`` `invalidSize`, `targetExists`, `targetUnusable`, `diskFull`; `busy` where the same
    ///   content is being received in the same directory.
    public static func open(
        _ target: String,
        size: Int64,
        digest: ContentDigest,
        replacesTarget: Bool = false
    ) async throws -> IncomingFile {
        let executor = QueueExecutor(label: "handoff.incoming-file")
        return try await executor.run { try IncomingFile(target, size, digest, replacesTarget, executor) }
    }

    private init(
        _ target: String,
        _ size: Int64,
        _ digest: ContentDigest,
        _ replacesTarget: Bool,
        _ executor: QueueExecutor
    ) throws(TransferError) {
        guard (0...Self.maximumSize).contains(size) else {
            throw TransferError(.invalidSize, "the peer told a size of \(size) bytes: is its app broken?")
        }
        if !replacesTarget, try system({ () throws(SystemError) in try FileStatus.of(target) }) != nil {
            throw .targetExists(target)
        }
        self.target = target
        self.size = size
        self.digest = digest
        self.replacesTarget = replacesTarget
        self.executor = executor
        partial = try PartialFile(for: digest, target: target)
    }

    deinit {
        partial?.leave()
        feed.finish()
    }

    /// What is here of the file, which the sender compares with its own; reads all of it at the first call.
    ///
    /// - Throws: ``TransferError`` `diskFull` where the rest has no room, `inputOutput`, `closed`; `CancellationError`.
    public func resumePoint() throws -> ResumePoint {
        try checkPartial()
        let room = try withPartial { (partial) throws(SystemError) in
            try Directory.availableBytes(in: Directory.containing(partial.path))
        }
        guard room >= size - offset else { throw TransferError.diskFull(directory, missing: size - offset - room) }
        return ResumePoint(offset: offset, digest: hasher.digest)
    }

    /// Begins again, since the sender has another beginning than what is here.
    ///
    /// - Throws: ``TransferError`` `inputOutput`, `closed`.
    public func restart() throws {
        try withPartial { (partial) throws(SystemError) in try partial.file.truncate(to: 0) }
        hasher = SHA256()
        offset = 0
        hasCheckedPartial = true
    }

    /// Takes the bytes that follow those that are here.
    ///
    /// - Parameter bytes: Best 256 KiB or more at once: each call is a change of threads, some 50 µs.
    /// - Throws: ``TransferError`` `tooLong`, `diskFull`, `inputOutput`, `closed`. The bytes are not taken then; the
    ///   partial file is kept, and they may be given again.
    public func append(_ bytes: [UInt8]) throws { try bytes.withUnsafeBytes { try take($0) } }

    /// Takes the bytes that follow those that are here, out of a buffer that is free again when this returns.
    ///
    /// - Throws: What `append` of an array throws.
    func append(_ piece: TransferBuffer) throws { try take(piece.bytes) }

    private func take(_ bytes: UnsafeRawBufferPointer) throws {
        try checkPartial()
        guard Int64(bytes.count) <= size - offset else {
            throw TransferError(.tooLong, "the peer sends more than the \(size) bytes that it told: is its app broken?")
        }
        let start = offset
        try withPartial { (partial) throws(SystemError) in
            try partial.file.write(bytes, at: start)
            // The disk writes while the next bytes are hashed.
            partial.file.letGo(behind: start..<start + Int64(bytes.count))
        }
        hasher.update(bytes)
        offset += Int64(bytes.count)
        feed.tell(.moving, offset, of: size)
    }

    /// Checks that the whole file is here, and gives it its name.
    ///
    /// When this returns, the file is on the disk under its name and the partial file is gone.
    ///
    /// - Throws: ``TransferError`` `incomplete`; `digestMismatch`, after which nothing is left; `targetExists`,
    ///   `diskFull`, `inputOutput`, where the partial file is kept; `closed`.
    public func commit() throws {
        try checkPartial()
        guard offset == size else {
            throw TransferError(
                .incomplete,
                "\(size - offset) bytes of \(target) are missing; what has come is kept: try again to go on"
            )
        }
        guard hasher.digest == digest else {
            try discard()
            throw TransferError(
                .digestMismatch,
                "what came for \(target) is not what was told: it was discarded, try again"
            )
        }
        try withPartial { (partial) throws(SystemError) in
            try partial.publish(as: target, replacing: replacesTarget)
        }
        end()
    }

    /// Removes what is here.
    ///
    /// - Throws: ``TransferError`` `inputOutput`, `closed`.
    public func discard() throws {
        try withPartial { (partial) throws(SystemError) in try Directory.remove(partial.path) }
        end()
    }

    /// Ends the transfer and keeps what is here for the next try; may be called again.
    ///
    /// Letting the last reference go does the same.
    public func close() {
        partial?.leave()
        end()
    }

    private nonisolated var directory: String { Directory.containing(target) }

    private func end() {
        partial = nil
        feed.finish()
    }

    /// Hashes what an earlier try has left: whatever happened to the file since, its digest is what is there now.
    private func checkPartial() throws {
        guard !hasCheckedPartial else { return }
        guard let partial else { throw TransferError.transferClosed }
        var hasher = SHA256()
        do {
            let found = try partial.file.status().size
            guard found <= size else { return try restart() }
            offset = try partial.file.hash(found, into: &hasher, isOwn: true) { feed.tell(.checking, $0, of: found) }
        } catch let error as SystemError {
            throw TransferError.inputOutput(error)
        }
        self.hasher = hasher
        hasCheckedPartial = true
        // As long as the whole and not the whole: of no use as a beginning.
        if offset == size, self.hasher.digest != digest { try restart() }
    }

    private func withPartial<Result>(
        _ body: (PartialFile) throws(SystemError) -> Result
    ) throws(TransferError) -> Result {
        guard let partial else { throw .transferClosed }
        do throws(SystemError) {
            return try body(partial)
        } catch {
            if error.isTaken { throw .targetExists(target) }
            guard error.isDiskFull else { throw .inputOutput(error) }
            let room = (try? Directory.availableBytes(in: directory)) ?? 0
            throw .diskFull(directory, missing: max(1, size - offset - room), cause: error)
        }
    }
}

extension TransferError {
    fileprivate static func targetExists(_ target: String) -> TransferError {
        TransferError(.targetExists, "\(target) exists, and is left as it is: choose another name, or replace it")
    }

    fileprivate static var transferClosed: TransferError {
        TransferError(.closed, "the transfer has ended: begin it again")
    }
}
