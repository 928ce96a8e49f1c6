import FoundationEssentials
public import Handoff

extension NotesService: UserActivityDelegate {
    /// Puts the note's newest text into the activity that a peer asked for.
    public func userActivityWillSave(_ activity: UserActivity) async throws {
        guard let note = try await note(of: activity) else {
            throw HandoffError(.handoffFailed, "the note was removed")
        }
        activity.addUserInfoEntries(try NoteActivity.userInfo(note))
    }

    /// Lets the peer have the contents of the note's attachments, for a day.
    public func userActivity(_ activity: UserActivity, willTravelTo peer: RemotePeer) async {
        guard let note = try? await note(of: activity), !note.attachments.isEmpty else { return }
        // Without the grant they are refused, which the other end shows.
        try? await store.grant(note.attachments.map(\.digest), to: Self.machine(of: peer))
    }

    /// The note stays here, too: its versions make two live copies safe.
    public func userActivityWasContinued(_ activity: UserActivity) async {}

    /// Gives a text that is too large for userInfo, or hears how far the attachments of a note are that was sent.
    public func userActivity(_ activity: UserActivity, didOpen stream: StreamConnection, for peer: RemotePeer) async {
        do {
            guard let request = try await stream.readMessage() else { return }
            if let hash = request["content"]?.dataValue {
                guard let id = activity.targetContentIdentifier.flatMap({ UUID(uuidString: $0) }),
                    let text = try await store.text(of: id, hash: Array(hash))
                else { return stream.abort() }
                try await stream.write(text)
            } else if let delivery = deliveries[activity.id] {
                await delivery.follow(stream)
            }
        } catch {
            // The end in order would pass for the whole text.
            stream.abort()
        }
    }

    private func note(of activity: UserActivity) async throws -> Note? {
        guard let id = activity.targetContentIdentifier.flatMap({ UUID(uuidString: $0) }),
            let note = try await store.note(id: id), !note.isDeleted
        else { return nil }
        return note
    }

    static func machine(of peer: RemotePeer) -> String { peer.id.machine.uuidString.lowercased() }
}

extension NotesService: HandoffApplication {
    /// How many restorations are remembered for those who asked for them.
    private static let restorationCount = 8

    /// Restores a peer's note into the store, losing no text.
    public func continueActivity(_ activity: ContinuedActivity) async throws {
        let restoration = try await restore(activity)
        if activity.wasSent {
            received(report(restoration, from: activity.origin))
            try await beginDelivery(of: restoration.note, for: activity)
        } else {
            restorations.append((activity.id, restoration))
            if restorations.count > Self.restorationCount { restorations.removeFirst() }
        }
    }

    /// A note that is to follow its origin does so until somebody works on it here.
    public func shouldUpdate(_ activity: ContinuedActivity) async -> Bool {
        guard let followed, NoteActivity.noteID(activity) == followed,
            let continued = try? NoteActivity.version(activity.userInfo),
            let note = try? await store.note(id: followed)
        else { return false }
        return !note.isDeleted && note.version == continued && !leases.contain(note.id)
    }

    /// Takes the newer text; where the note was edited here meanwhile, both texts are kept.
    public func didUpdate(_ activity: ContinuedActivity) async {
        // A text that cannot be read or stored now can be continued later.
        _ = try? await restore(activity)
    }

    /// Gives an attachment's content to a machine that has a grant.
    public func file(_ digest: ContentDigest, for peer: RemotePeer) async -> OutgoingFile? {
        guard (try? await store.isGranted(digest, to: Self.machine(of: peer))) == true else { return nil }
        return try? await OutgoingFile.open(stored: store.blobPath(of: digest), digest: digest)
    }

    private func restore(_ activity: ContinuedActivity) async throws -> Restoration {
        var userInfo = activity.userInfo
        let streamed = try NoteActivity.streamedText(userInfo)
        if let streamed {
            userInfo["content"] = .string(try await readText(streamed.size, streamed.hash, of: activity))
        }
        let incoming = try NoteActivity.note(userInfo, hash: store.hash)
        if let streamed, incoming.contentHash != streamed.hash {
            throw HandoffError(.handoffFailed, "the note's text did not come as it was announced: try again")
        }
        let outcome = try await store.restore(incoming)
        await noteChanged(incoming.id)
        return Restoration(of: incoming, outcome)
    }

    private func readText(_ size: Int, _ hash: [UInt8], of activity: ContinuedActivity) async throws -> String {
        let stream = try await peer().openStream(of: activity)
        do {
            try await stream.write(["content": .data(Data(hash))])
            let bytes = size > 0 ? try await stream.read(exactly: size) : []
            guard let bytes, try await stream.read(exactly: 1) == nil,
                let text = String(validating: bytes, as: UTF8.self)
            else { throw HandoffError(.handoffFailed, "the note's text did not come whole: try again") }
            await stream.close()
            return text
        } catch {
            stream.abort()
            throw error as? HandoffError
                ?? HandoffError(.handoffFailed, "the note's text broke off: \(error); try again")
        }
    }

    /// What is told of a restoration.
    func report(
        _ restoration: Restoration,
        from peer: RemotePeer,
        attachments: [AttachmentReport] = [],
        reason: String? = nil,
        failures: [(peer: RemotePeer, error: HandoffError)] = []
    ) -> ContinueReport {
        ContinueReport(
            note: restoration.note.id.uuidString.lowercased(),
            title: restoration.note.title,
            outcome: restoration.outcome,
            copy: restoration.copy?.id.uuidString.lowercased(),
            isOpenInEditor: leases.areEditing(restoration.note.id),
            attachments: attachments,
            from: PeerReport(id: peer.id, hello: peer.hello, latency: nil),
            reason: reason,
            failures: failures.map(ContinueReport.Failure.init)
        )
    }
}

/// What came of a note that arrived.
struct Restoration: Sendable {
    let note: Note
    let outcome: ContinueReport.Outcome
    let copy: Note?

    init(of incoming: Note, _ outcome: MergeOutcome) {
        (note, self.outcome, copy) =
            switch outcome {
            case .added(let note): (note, .added, nil)
            case .fastForwarded(let note), .broughtBack(let note), .merged(let note): (note, .updated, nil)
            case .ignored(.same): (incoming, .same, nil)
            case .ignored(.older): (incoming, .older, nil)
            case .ignored(.deletedHere): (incoming, .removed, nil)
            case .conflict(let winner, let copy): (winner, .conflict, copy)
            }
    }
}
