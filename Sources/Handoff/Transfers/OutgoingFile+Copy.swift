extension OutgoingFile {
    /// Copies the file into one that is received on this machine, going on from what an earlier try has left there.
    ///
    /// - Parameter file: What receives it; it is committed when this returns, and open still when this throws.
    /// - Throws: ``TransferError``; `CancellationError`.
    public func copy(into file: IncomingFile) async throws {
        let point = try await file.resumePoint()
        var offset = point.offset
        if try !begins(with: point) {
            try await file.restart()
            offset = 0
        }
        while offset < size {
            try Task.checkCancellation()
            let bytes = try read(1 << 20, at: offset)
            try await file.append(bytes)
            offset += Int64(bytes.count)
        }
        try await file.commit()
    }
}
