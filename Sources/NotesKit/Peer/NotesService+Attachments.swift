import FoundationEssentials
import Handoff

/// Is told how far a command's work is.
typealias Tell = @Sendable (ProgressReport) -> Void

/// The contents of attachments follow their note over streams of their own, from where an earlier try broke off.
extension NotesService {
    /// Fetches what is missing of a note's attachments from one peer.
    ///
    /// - Returns: Every attachment, and why it is not here where it is not.
    func fetchAttachments(of notes: [Note], from id: PeerID, tell: @escaping Tell) async -> [AttachmentReport] {
        var reports: [AttachmentReport] = []
        var seen: Set<ContentDigest> = []
        for attachment in notes.flatMap(\.attachments) where seen.insert(attachment.digest).inserted {
            var problem: String?
            if store.blobState(of: attachment) != .here {
                do {
                    try await fetch(attachment, from: id, tell: tell)
                } catch {
                    problem = "\(error)"
                }
            }
            reports.append(AttachmentReport(attachment, problem: problem))
        }
        return reports
    }

    private func fetch(_ attachment: Attachment, from id: PeerID, tell: @escaping Tell) async throws {
        let peer = try peer()
        let file = try await store.receiveBlob(of: attachment)
        let progress = file.progress
        // Ends with the scope, and with the file.
        async let _: Void = {
            for await step in progress { tell(ProgressReport(attachment.name, step)) }
        }()
        try await peer.fetch(file, from: id)
    }

    /// Fetches what is missing of a note's attachments from whichever peer has it and gives it, the nearest first.
    ///
    /// - Throws: ``ControlFailure`` where there is no such note.
    func fetchAttachments(of note: UUID, tell: @escaping Tell) async throws -> ControlReply {
        guard let note = try await store.note(id: note), !note.isDeleted else {
            throw ControlFailure("there is no such note")
        }
        let peers = try await peer().peers()
            .filter { $0.hello?.app == NoteActivity.app }
            .sorted { ($0.latency ?? .seconds(60)) < ($1.latency ?? .seconds(60)) }
            .compactMap(\.id)
        let isMissing = { @Sendable [store] (attachment: Attachment) in store.blobState(of: attachment) != .here }
        var reports = note.attachments.map {
            AttachmentReport($0, problem: isMissing($0) ? "no peer that has it is linked now" : nil)
        }
        for id in peers where note.attachments.contains(where: isMissing) {
            reports = await fetchAttachments(of: [note], from: id, tell: tell)
        }
        return .fetched(
            FetchReport(note: note.id.uuidString.lowercased(), title: note.title, attachments: reports)
        )
    }

    // MARK: - What was sent here

    /// For how many notes that were sent here attachments may be on their way at once.
    private static let maximumTransfers = 16

    /// Fetches the attachments of a note that was sent here, and tells the sender how far they are.
    ///
    /// - Throws: ``HandoffError`` where the sender cannot be told.
    func beginDelivery(of note: Note, for activity: ContinuedActivity) async throws {
        guard !note.attachments.isEmpty else { return }
        guard transfers.count < Self.maximumTransfers else {
            throw HandoffError(.refused, "the note is there; its attachments wait for others: send it again later")
        }
        let stream = try await peer().openStream(of: activity)
        // Cancelled by stop().
        let id = UUID()
        transfers[id] = Task(executorPreference: QuietExecutor.shared) {
            let steps = BoundedChannel<ProgressReport>(capacity: 1)
            async let told: Void = Self.tell(steps, over: stream)
            let reports = await self.fetchAttachments(of: [note], from: activity.origin.id) { _ = try? steps.offer($0) }
            steps.finish()
            await told
            var last: [String: PropertyList] = ["done": true]
            last["problem"] = reports.first { $0.problem != nil }.map {
                .string(String("\($0.name): \($0.problem ?? "")".prefix(500)))
            }
            // That the sender is not there to hear of it changes nothing here.
            try? await stream.write(last)
            await stream.close()
            await self.ended(id)
        }
    }

    private func ended(_ transfer: UUID) { transfers[transfer] = nil }

    private static func tell(_ steps: BoundedChannel<ProgressReport>, over stream: StreamConnection) async {
        try? await stream.write(["attachments": true])
        while let step = try? await steps.next() {
            try? await stream.write([
                "name": .string(step.name), "completed": .integer(Int(step.completed)),
                "total": .integer(Int(step.total)),
            ])
        }
    }
}

/// What the sender of a note hears of its attachments.
struct Delivery: Sendable {
    private enum Step: Sendable {
        case progress(ProgressReport)
        case ended(problem: String?)
    }

    /// How long the first word may take, after the note itself is there.
    private static let patience = Duration.seconds(10)

    private let steps = BoundedChannel<Step>(capacity: 4)

    /// Reads what the other end tells over its stream.
    func follow(_ stream: StreamConnection) async {
        do {
            while let message = try await stream.readMessage() {
                if message["done"] != nil {
                    try await steps.send(.ended(problem: message["problem"]?.stringValue))
                    return
                }
                guard let name = message["name"]?.stringValue, let completed = message["completed"]?.integerValue,
                    let total = message["total"]?.integerValue
                else { continue }
                let report = ProgressReport(
                    name: name,
                    stage: "sending",
                    completed: Int64(completed),
                    total: Int64(total)
                )
                try await steps.send(.progress(report))
            }
            steps.finish(throwing: HandoffError(.handoffFailed, "the other machine broke off"))
        } catch {
            steps.finish(throwing: error)
        }
    }

    /// Waits until the other end has all attachments.
    ///
    /// - Throws: ``ControlFailure`` where it has not.
    func wait(tell: @escaping Tell) async throws {
        do {
            let late = HandoffError(.remoteApplicationTimedOut, "the other machine does not say how far they are")
            var step = try await withDeadline(Self.patience, clock: .system, timeoutError: late) {
                try await steps.next()
            }
            while case .progress(let report) = step {
                tell(report)
                step = try await steps.next()
            }
            guard case .ended(let problem) = step else {
                throw HandoffError(.handoffFailed, "the other machine broke off")
            }
            if let problem { throw HandoffError(.handoffFailed, problem) }
        } catch {
            throw ControlFailure("the note is there, but not all of its attachments: \(error); send it again to go on")
        }
    }
}

extension ProgressReport {
    init(_ name: String, _ progress: TransferProgress) {
        self.init(
            name: name,
            stage: progress.stage == .checking ? "checking" : "receiving",
            completed: progress.completed,
            total: progress.total
        )
    }
}

extension AttachmentReport {
    init(_ attachment: Attachment, problem: String?) {
        self.init(
            name: attachment.name,
            size: attachment.size,
            sha256: attachment.digest.description,
            problem: problem
        )
    }
}
