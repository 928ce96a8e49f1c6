import HandoffTransport

/// The memory for one piece of a file, which a transfer uses again and again.
///
/// Two of them take turns. An array for each piece, made on one thread and let go on another, is kept by `malloc` for
/// every thread that had one: 1 GiB took 45 MiB at either end instead of 2.
final class TransferBuffer: @unchecked Sendable {  // One task has it at a time, and gives it on when it is done.
    /// How much is moved at once.
    static let size = 1 << 20

    private let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: size, alignment: 4_096)
    /// How many bytes are in it.
    private(set) var count = 0

    deinit { memory.deallocate() }

    /// What is in it.
    var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(rebasing: memory[..<count]) }

    /// Fills it from a file; with less only at the file's end.
    ///
    /// - Throws: What the file's `read(into:at:)` throws.
    func fill(from file: OutgoingFile, at offset: Int64) throws(TransferError) {
        count = try file.read(into: memory, at: offset)
    }

    /// Fills it from a stream; with less than is wanted only where the other end has said that it sends no more.
    ///
    /// - Parameter limit: How much is wanted at most; over 0.
    /// - Throws: What the stream's `read(into:)` throws.
    nonisolated(nonsending) func fill(from stream: StreamConnection, atMost limit: Int64) async throws {
        count = 0
        let wanted = Int(min(Int64(Self.size), limit))
        while count < wanted {
            let added = try await stream.read(into: UnsafeMutableRawBufferPointer(rebasing: memory[count..<wanted]))
            guard added > 0 else { return }
            count += added
        }
    }
}

extension OutgoingFile {
    /// Reads a range into a buffer, on the file's own queue.
    ///
    /// - Throws: What `read(into:at:)` throws.
    func read(into buffer: TransferBuffer, at offset: Int64) throws { try buffer.fill(from: self, at: offset) }
}
