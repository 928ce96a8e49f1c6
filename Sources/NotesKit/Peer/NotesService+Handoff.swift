import FoundationEssentials
public import Handoff

extension NotesService: UserActivityDelegate {
    /// Puts the note's newest text into the activity that a peer asked for.
    public func userActivityWillSave(_ activity: UserActivity) async throws {
        guard let id = activity.targetContentIdentifier.flatMap({ UUID(uuidString: $0) }),
            let note = try await store.note(id: id), !note.isDeleted
        else { throw HandoffError(.handoffFailed, "the note was removed") }
        activity.addUserInfoEntries(NoteActivity.userInfo(note))
    }

    /// The note stays here, too: its versions make two live copies safe.
    public func userActivityWasContinued(_ activity: UserActivity) async {}
}

extension NotesService: HandoffApplication {
    /// How many restorations are remembered for those who asked for them.
    private static let restorationCount = 8

    /// Restores a peer's note into the store, losing no text.
    public func continueActivity(_ activity: ContinuedActivity) async throws {
        let restoration = try await restore(activity)
        if activity.wasSent {
            received(report(restoration, from: activity.origin))
        } else {
            restorations.append((activity.id, restoration))
            if restorations.count > Self.restorationCount { restorations.removeFirst() }
        }
    }

    /// A note that is to follow its origin does so until somebody works on it here.
    public func shouldUpdate(_ activity: ContinuedActivity) async -> Bool {
        guard let followed, activity.targetContentIdentifier.flatMap({ UUID(uuidString: $0) }) == followed,
            let continued = try? NoteActivity.note(activity.userInfo, hash: store.hash),
            let note = try? await store.note(id: followed)
        else { return false }
        return !note.isDeleted && note.version == continued.version && !leases.contain(note.id)
    }

    /// Takes the newer text; where the note was edited here meanwhile, both texts are kept.
    public func didUpdate(_ activity: ContinuedActivity) async {
        // A text that cannot be read or stored now can be continued later.
        _ = try? await restore(activity)
    }

    private func restore(_ activity: ContinuedActivity) async throws -> Restoration {
        let incoming = try NoteActivity.note(activity.userInfo, hash: store.hash)
        let outcome = try await store.restore(incoming)
        await noteChanged(incoming.id)
        return Restoration(of: incoming, outcome)
    }

    /// What is told of a restoration.
    func report(
        _ restoration: Restoration,
        from peer: RemotePeer,
        failures: [(peer: RemotePeer, error: HandoffError)] = []
    ) -> ContinueReport {
        ContinueReport(
            note: restoration.note.id.uuidString.lowercased(),
            title: restoration.note.title,
            outcome: restoration.outcome,
            copy: restoration.copy?.id.uuidString.lowercased(),
            isOpenInEditor: leases.areEditing(restoration.note.id),
            from: PeerReport(id: peer.id, hello: peer.hello, latency: nil),
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
