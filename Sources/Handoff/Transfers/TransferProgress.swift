/// How far a file is.
public struct TransferProgress: Sendable, Hashable {
    /// What is being done with the file.
    public enum Stage: String, Sendable, Codable {
        /// Its digest is computed: before it is offered, or of the part that is here from an earlier try.
        case checking
        /// Its content is read to be sent, or has come.
        case moving
    }

    /// What is being done with the file.
    public let stage: Stage
    /// How many bytes of the stage are done.
    public let completed: Int64
    /// How many bytes the stage has in all.
    public let total: Int64

    /// Records how far a file is.
    public init(_ stage: Stage, completed: Int64, total: Int64) {
        self.stage = stage
        self.completed = completed
        self.total = total
    }
}

/// Tells one reader how far a file is: always the newest, since nobody wants to read of old progress.
struct ProgressFeed: Sendable {
    let stream: AsyncStream<TransferProgress>
    private let continuation: AsyncStream<TransferProgress>.Continuation

    init() {
        (stream, continuation) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    func tell(_ stage: TransferProgress.Stage, _ completed: Int64, of total: Int64) {
        continuation.yield(TransferProgress(stage, completed: completed, total: total))
    }

    func finish() { continuation.finish() }
}
