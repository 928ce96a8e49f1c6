import FoundationEssentials
public import Handoff

/// Pull and push: what the commands `continue` and `send` do, with a running peer and as visitors.
extension NotesService {
    /// How long a visitor looks for peers; the first look around takes Avahi about a second.
    static let visitLimit = Duration.seconds(4)

    /// Continues the nearest peer's activity, or that of the peer which is named.
    ///
    /// - Parameters:
    ///   - name: A host's name or a prefix of a peer's id; nil for the nearest.
    ///   - options: How.
    ///   - tell: Told how far the attachments are.
    /// - Throws: ``ControlFailure``; ``HandoffError``; ``NotesStoreError``.
    func continueActivity(
        from name: String?,
        _ options: ContinueOptions,
        tell: @escaping Tell
    ) async throws -> ControlReply {
        let peer = try peer()
        var wanted: PeerID?
        if let name { wanted = try await Self.resolve(name, on: peer).id }
        let continuation = try await peer.continueNearest(includingWebpages: options.includesWebpages) { [wanted] in
            wanted == nil || $0.peer.id == wanted
        }
        let activity = continuation.activity
        if continuation.isWebpage {
            return .webpage(
                WebpageReport(
                    address: activity.webpageURL?.absoluteString ?? "",
                    title: activity.title,
                    from: PeerReport(id: activity.origin.id, hello: activity.origin.hello, latency: nil),
                    failures: continuation.failures.map(ContinueReport.Failure.init)
                )
            )
        }
        guard let index = restorations.lastIndex(where: { $0.activity == activity.id }) else {
            throw ControlFailure("the note was continued twice at once; try again")
        }
        let restoration = restorations.remove(at: index).restoration
        followed = options.follows ? restoration.note.id : nil
        let notes = [restoration.note] + (restoration.copy.map { [$0] } ?? [])
        let attachments = await fetchAttachments(of: notes, from: activity.origin.id, tell: tell)
        let reason = wanted == nil ? continuation.nearness.map { "\($0)" } : nil
        return .continued(
            report(
                restoration,
                from: activity.origin,
                attachments: attachments,
                reason: reason,
                failures: continuation.failures
            )
        )
    }

    /// Sends a note to the peer that is named, and waits until it is there with its attachments.
    ///
    /// - Parameters:
    ///   - note: The note.
    ///   - name: A host's name or a prefix of a peer's id.
    ///   - tell: Told how far the attachments are.
    /// - Throws: ``ControlFailure``; ``HandoffError``; ``NotesStoreError``.
    func send(_ note: UUID, to name: String, tell: @escaping Tell) async throws -> ControlReply {
        let peer = try peer()
        guard let note = try await store.note(id: note), !note.isDeleted else {
            throw ControlFailure("there is no such note")
        }
        let target = try await Self.resolve(name, on: peer)
        let activity = try makeActivity(of: note, on: peer)
        let delivery = Delivery()
        deliveries[activity.id] = delivery
        defer { deliveries[activity.id] = nil }
        do {
            try await peer.send(activity, to: target.id)
        } catch let error as HandoffError {
            throw ControlFailure("“\(note.title)” was not taken by \(target.hello.host): \(error.message)")
        }
        if !note.attachments.isEmpty { try await delivery.wait(tell: tell) }
        return .sent(
            SendReport(
                note: note.id.uuidString.lowercased(),
                title: note.title,
                to: PeerReport(id: target.id, hello: target.hello, latency: nil)
            )
        )
    }

    /// Does by itself what a running peer would be asked: looks for peers, does it, and leaves again.
    ///
    /// - Parameters:
    ///   - request: `continueActivity`, `send` or `fetchAttachments`.
    ///   - places: Those of the places where to look for peers that matter to whoever asks.
    ///   - tellUnreached: Told at which of them no peer was found.
    ///   - tell: Told how far a long work is.
    /// - Returns: What a running peer would answer.
    /// - Throws: ``ControlFailure``; ``HandoffError``; ``NotesStoreError``; what `HandoffPeer.run` throws.
    public func visit(
        for request: ControlRequest,
        places: [NetworkPlace] = [],
        tellUnreached: @escaping @Sendable ([ContinueReport.Failure]) -> Void = { _ in },
        tell: @escaping @Sendable (ProgressReport) -> Void
    ) async throws -> ControlReply {
        let peer = try peer()
        let reply = try await peer.whileRunning {
            try await peer.lookAround(atMost: Self.visitLimit)
            tellUnreached(await peer.unreached(places).map(ContinueReport.Failure.init))
            return await self.answer(request, on: UUID(), tell: tell)
        }
        if case .failed(let message) = reply { throw ControlFailure(message) }
        return reply
    }

    /// Finds the one peer that a name means.
    private static func resolve(_ name: String, on peer: HandoffPeer) async throws -> (id: PeerID, hello: Hello) {
        let paired = await peer.peers().compactMap { status in
            status.id.flatMap { id in status.hello.map { (id: id, hello: $0) } }
        }
        let matching = paired.filter {
            $0.hello.host == name || (name.count >= 4 && "\($0.id)".hasPrefix(name.lowercased()))
        }
        let lines = (matching.isEmpty ? paired : matching).map { "\($0.id) \($0.hello.name) on \($0.hello.host)" }
        switch matching.count {
        case 1: return matching[0]
        case 0:
            throw ControlFailure(
                "no paired peer is called \"\(name)\"; "
                    + (lines.isEmpty ? "none is paired now" : "there is: " + lines.joined(separator: ", "))
            )
        default:
            throw ControlFailure("\"\(name)\" fits several peers, name one by its id: \(lines.joined(separator: ", "))")
        }
    }
}

extension PeerReport {
    init(id: PeerID, hello: Hello, latency: Duration?) {
        self.id = "\(id)"
        host = hello.host
        name = hello.name
        rttMilliseconds = latency.map { $0 / .milliseconds(1) }
    }
}

extension ContinueReport.Failure {
    init(_ failure: (peer: RemotePeer, error: HandoffError)) {
        host = failure.peer.hello.host
        message = failure.error.message
    }

    init(_ failure: (place: NetworkPlace, failure: PairingFailure)) {
        host = failure.place.description
        message = failure.failure.description
    }
}
