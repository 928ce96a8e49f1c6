import HandoffSupport
import HandoffTransport

extension DiskFile {
    /// How much is read at once: it stays in the processor's second cache between reading and hashing.
    static let pieceBytes = 256 << 10

    /// Hashes the beginning of a file, in constant memory.
    ///
    /// - Parameters:
    ///   - length: How many bytes.
    ///   - hasher: Takes them.
    ///   - tell: Called with the number of bytes done, after each piece.
    /// - Returns: How many bytes there were, fewer than `length` where the file is shorter.
    /// - Throws: `SystemError`; `CancellationError`.
    func hash(
        _ length: Int64,
        into hasher: inout SHA256,
        tell: (Int64) -> Void
    ) throws -> Int64 {
        expectSequentialReading()
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: Self.pieceBytes, alignment: 4_096)
        defer { buffer.deallocate() }
        var done: Int64 = 0
        while done < length {
            try Task.checkCancellation()
            let wanted = Int(min(Int64(buffer.count), length - done))
            let piece = UnsafeMutableRawBufferPointer(rebasing: buffer[..<wanted])
            let count = try read(into: piece, at: done)
            hasher.update(UnsafeRawBufferPointer(rebasing: piece[..<count]))
            done += Int64(count)
            tell(done)
            if count < wanted { break }
        }
        return done
    }
}
