import FoundationEssentials
public import HandoffModel
import HandoffSupport
import HandoffTransport

/// Files over streams: agreed on by size and digest, from where an earlier try broke off, durable before the sender
/// hears that they are there.
extension HandoffPeer {
    /// How long the other end may take to hear that a file is not taken.
    private static let refusalLimit = Duration.seconds(3)
    /// The other end may have to hash all of what was sent before; at 1 GB/s this is enough for 120 GB.
    private static let ticketLimit = Duration.seconds(120)

    /// Fetches a file from a peer, going on where an earlier try broke off.
    ///
    /// - Parameters:
    ///   - file: What receives it; it is committed when this returns, and closed when this throws: what has come is
    ///     kept for the next try. ``IncomingFile/progress`` tells how far it is.
    ///   - peer: Who has it.
    /// - Throws: ``TransferError`` for what happens on this disk; ``HandoffError``: `connectionUnavailable` and
    ///   `handoffFailed` where the peer has not got it or breaks off, `refused` where it does not give it;
    ///   `CancellationError`.
    public func fetch(_ file: IncomingFile, from peer: PeerID) async throws {
        do {
            try await receive(file, from: peer)
        } catch {
            await file.close()
            throw error
        }
    }

    private nonisolated func receive(_ file: IncomingFile, from peer: PeerID) async throws {
        let point: ResumePoint
        do {
            point = try await file.resumePoint()
        } catch {
            await decline(file, from: peer, because: Self.failure(of: error))
            throw error
        }
        let request = BlobRequest(digest: file.digest, size: file.size, offset: point.offset, prefix: point.digest)
        let (stream, ticket) = try await openStream(.blob(request), from: peer, within: Self.ticketLimit)
        do {
            if ticket.offset == 0, point.offset > 0 { try await file.restart() }
            guard ticket.offset == 0 || ticket.offset == point.offset else {
                throw HandoffError(.handoffFailed, "the peer begins at another place than was asked for")
            }
            try await Self.write(stream, into: file, from: ticket.offset)
            try await file.commit()
        } catch {
            let failure = Self.failure(of: error)
            guard !(error is TransportError) else {
                stream.abort()
                throw failure
            }
            await Self.refuse(stream, because: failure)
            throw error
        }
        // That the sender does not hear of it changes nothing here.
        try? await stream.write(StreamFrame.receipt(nil))
        await stream.close()
    }

    /// Tells the other end that its file cannot be taken, so that it can be seen there, too.
    private nonisolated func decline(_ file: IncomingFile, from peer: PeerID, because failure: HandoffError) async {
        let nothing = SHA256().digest
        let request = BlobRequest(digest: file.digest, size: file.size, offset: 0, prefix: nothing)
        guard let (stream, _) = try? await openStream(.blob(request), from: peer) else { return }
        await Self.refuse(stream, because: failure)
    }

    /// Says why a file is not taken, and waits until the other end has stopped: a connection that is closed with
    /// something unread is reset, and the reason would be lost.
    private static func refuse(_ stream: StreamConnection, because failure: HandoffError) async {
        // Not in this task, which may be cancelled; it ends within the limit.
        await Task(executorPreference: QuietExecutor.shared) {
            try? await withDeadline(refusalLimit, clock: .system, timeoutError: failure) {
                try await stream.write(StreamFrame.receipt(failure))
                try await stream.finish()
                var rest = [UInt8](repeating: 0, count: 256 << 10)
                while try await stream.read(into: &rest) > 0 {}
            }
        }.value
        stream.abort()
    }

    /// Reads a stream to its end, while what came before is hashed and written.
    private static func write(_ stream: StreamConnection, into file: IncomingFile, from start: Int64) async throws {
        var missing = file.size - start
        var (piece, other) = (TransferBuffer(), TransferBuffer())
        var writing: Task<Void, any Error>?
        do {
            while missing > 0 {
                try await piece.fill(from: stream, atMost: missing)
                // An end that comes too early is for the file to refuse, which tells the other end.
                guard piece.count > 0 else { break }
                missing -= Int64(piece.count)
                try await writing?.value
                // Awaited before the buffer is filled again, or below.
                writing = Task(executorPreference: QuietExecutor.shared) { [piece] in try await file.append(piece) }
                swap(&piece, &other)
            }
            // The end counts only with TLS's close_notify; a byte more than was told is for the file to refuse.
            if missing == 0, let more = try await stream.read(exactly: 1) {
                try await writing?.value
                try await file.append(more)
            }
            try await writing?.value
        } catch {
            _ = await writing?.result
            throw error
        }
    }

    private static func failure(of error: any Error) -> HandoffError {
        switch error {
        case let error as HandoffError: error
        case let error as TransferError: HandoffError(.handoffFailed, error.description)
        case is CancellationError: HandoffError(.cancelled, "it was given up; what has come is kept")
        default:
            HandoffError(.handoffFailed, "the transfer broke off: \(error); what has come is kept, try again to go on")
        }
    }

    // MARK: - The end that has the file

    /// Admits a peer to a file, where its app gives it one.
    func grant(_ request: BlobRequest, to peer: RemotePeer) async throws -> (grant: StreamGrant, offset: Int64) {
        guard let file = await application?.file(request.digest, for: peer), file.size == request.size else {
            throw HandoffError(.refused, "the file is not here any more, or not for this peer")
        }
        let point = ResumePoint(offset: request.offset, digest: request.prefix)
        let offset = try await file.begins(with: point) ? request.offset : 0
        let log = self.log
        let grant = StreamGrant(peer: peer) { stream in
            do {
                try await Self.send(file, from: offset, over: stream)
                log(.info, "a file was sent", ["peer": "\(peer.id)", "size": "\(file.size - offset)"])
            } catch {
                stream.abort()
                log(.warning, "a file was not sent: \(error)", ["peer": "\(peer.id)"])
            }
        }
        return (grant, offset)
    }

    /// Sends a file from a place on, and waits until the other end has it on its disk, or says that it takes no more.
    private static func send(_ file: OutgoingFile, from start: Int64, over stream: StreamConnection) async throws {
        try await withThrowingTaskGroup(of: [String: PropertyList]?.self) { group in
            group.addTask {
                do {
                    try await write(file, from: start, to: stream)
                } catch is TransportError {
                    // The other end's receipt, or its absence, says more.
                }
                return nil
            }
            group.addTask { try await stream.readMessage() }
            defer { group.cancelAll() }
            for try await receipt in group {
                guard let receipt else { continue }
                if let failure = StreamFrame.failure(in: receipt) { throw failure }
                return
            }
            throw HandoffError(.handoffFailed, "the peer did not say whether it stored the file")
        }
    }

    private static func write(_ file: OutgoingFile, from start: Int64, to stream: StreamConnection) async throws {
        var offset = start
        var (piece, following) = (TransferBuffer(), TransferBuffer())
        try await file.read(into: piece, at: offset)
        while piece.count > 0 {
            offset += Int64(piece.count)
            let (next, start) = (following, offset)
            async let isFilled: Void = file.read(into: next, at: start)
            try await stream.write(piece.bytes)
            try await isFilled
            swap(&piece, &following)
        }
        try await stream.finish()
    }
}
