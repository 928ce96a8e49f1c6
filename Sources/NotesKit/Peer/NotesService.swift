import FoundationEssentials
public import Handoff

/// The notes app as a peer: offers the note that is open, and restores those it continues.
public actor NotesService {
    let store: NotesStore
    private var makePeer: (@Sendable (any HandoffApplication) throws -> HandoffPeer)?
    private var startedPeer: HandoffPeer?

    /// True when ``run(socket:)`` has returned.
    public private(set) var hasStopped = false

    private var leases = Leases()
    private var activity: (note: UUID, title: String, activity: UserActivity)?
    private var outcomes: [UUID: (note: Note, outcome: ContinueReport.Outcome, copy: Note?)] = [:]

    /// Makes a service that does nothing yet.
    ///
    /// - Parameters:
    ///   - store: The notes.
    ///   - identity: The machine's certificate and keys.
    ///   - discovery: How peers are found.
    ///   - host: The machine's name for people.
    ///   - ports: The ports to try.
    ///   - preferredPort: The port to try first.
    ///   - isVisitor: True for a command that continues by itself.
    ///   - log: Where log lines go.
    public init(
        store: NotesStore,
        identity: Identity,
        discovery: any Discovery,
        host: String,
        ports: ClosedRange<UInt16> = HandoffConfiguration.defaultPorts,
        preferredPort: UInt16? = nil,
        isVisitor: Bool = false,
        log: Log = .none
    ) throws {
        self.store = store
        let configuration = try HandoffConfiguration(
            app: NoteActivity.app,
            name: "notes",
            host: host,
            types: [NoteActivity.type],
            ports: ports,
            preferredPort: preferredPort,
            isVisitor: isVisitor
        )
        makePeer = { application in
            try HandoffPeer(
                configuration: configuration,
                identity: identity,
                discovery: discovery,
                application: application,
                log: log
            )
        }
    }

    /// The peer, made at its first use because it needs the service itself.
    public func peer() throws -> HandoffPeer {
        if let startedPeer { return startedPeer }
        guard let makePeer else { preconditionFailure("the factory is kept until the peer is made") }
        let peer = try makePeer(self)
        startedPeer = peer
        self.makePeer = nil
        return peer
    }

    /// Runs the peer and serves the commands on a socket, until ``stop()`` or cancellation.
    ///
    /// - Parameter socket: The path of the control socket.
    /// - Throws: ``ControlFailure`` where a peer runs here already; what `HandoffPeer.run` throws.
    public func run(socket: String) async throws {
        let peer = try peer()
        let server = try ControlServer(path: socket, service: self)
        defer { hasStopped = true }
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await peer.run() }
            group.addTask { try await server.run() }
            defer { group.cancelAll() }
            // Whichever ends first ends the other: the peer by stop(), either by an error.
            try await group.next()
        }
    }

    /// Ends the activity and the peer; ``run(socket:)`` returns.
    public func stop() async {
        leases = Leases()
        await refresh()
        await startedPeer?.stop()
    }

    /// Continues the nearest peer's note, or that of the peer which is named.
    ///
    /// - Parameter name: A host's name or a prefix of a peer's id; nil for the nearest.
    /// - Throws: ``ControlFailure``; ``HandoffError``; ``NotesStoreError``.
    public func continueNote(from name: String?) async throws -> ContinueReport {
        let peer = try peer()
        let wanted = try await name.asyncMap { try await Self.resolve($0, on: peer) }
        let continuation = try await peer.continueNearest { wanted == nil || $0.peer.id == wanted }
        let activity = continuation.activity
        guard let (note, outcome, copy) = outcomes.removeValue(forKey: activity.id) else {
            throw ControlFailure("the note was continued twice at once; try again")
        }
        await refresh()
        return ContinueReport(
            note: note.id.uuidString.lowercased(),
            title: note.title,
            outcome: outcome,
            copy: copy?.id.uuidString.lowercased(),
            from: PeerReport(id: activity.origin.id, hello: activity.origin.hello, latency: nil),
            failures: continuation.failures.map { .init(host: $0.peer.hello.host, message: $0.error.message) }
        )
    }

    /// Looks for peers, continues and leaves again, without a running peer.
    ///
    /// - Parameter name: A host's name or a prefix of a peer's id; nil for the nearest.
    /// - Throws: ``ControlFailure``; ``HandoffError``; ``NotesStoreError``; what `HandoffPeer.run` throws.
    public func continueAsVisitor(from name: String?) async throws -> ContinueReport {
        let peer = try peer()
        return try await peer.whileRunning {
            try await peer.lookAround(atMost: Self.visitLimit)
            return try await self.continueNote(from: name)
        }
    }

    /// How long a visitor looks for peers; the first look around takes Avahi about a second.
    private static let visitLimit = Duration.seconds(4)

    /// Finds the one peer that a name means.
    private static func resolve(_ name: String, on peer: HandoffPeer) async throws -> PeerID {
        let paired = await peer.peers().compactMap { status in
            status.id.flatMap { id in status.hello.map { (id: id, hello: $0) } }
        }
        let matching = paired.filter {
            $0.hello.host == name || (name.count >= 4 && "\($0.id)".hasPrefix(name.lowercased()))
        }
        let lines = (matching.isEmpty ? paired : matching).map { "\($0.id) \($0.hello.name) on \($0.hello.host)" }
        switch matching.count {
        case 1: return matching[0].id
        case 0:
            throw ControlFailure(
                "no paired peer is called \"\(name)\"; "
                    + (lines.isEmpty ? "none is paired now" : "there is: " + lines.joined(separator: ", "))
            )
        default:
            throw ControlFailure("\"\(name)\" fits several peers, name one by its id: \(lines.joined(separator: ", "))")
        }
    }

    // MARK: - Which note is current

    func hold(_ note: UUID, by holder: Leases.Holder) async throws {
        guard let found = try await store.note(id: note), !found.isDeleted else {
            throw ControlFailure("there is no such note")
        }
        leases.add(note, by: holder)
        await refresh()
    }

    func end(_ holder: Leases.Holder) async {
        leases.end(holder)
        await refresh()
    }

    func closeNote(_ note: UUID?) async throws {
        guard leases.close(note) else { throw ControlFailure("the note is not open") }
        await refresh()
    }

    /// The store has a newer text of a note: it is saved into the activity when a peer asks.
    func noteChanged(_ note: UUID) async {
        if activity?.note == note { activity?.activity.needsSave = true }
        await refresh()
    }

    /// Makes the newest lease's note current, as a new activity where the note or its title is another one.
    private func refresh() async {
        var note: Note?
        while let id = leases.current {
            note = try? await store.note(id: id)
            if let note, !note.isDeleted { break }
            leases.remove(id)
            note = nil
        }
        guard note?.id != activity?.note || note?.title != activity?.title else { return }
        let ended = activity?.activity
        activity = nil
        if let note, let peer = startedPeer,
            let next = try? peer.makeActivity(type: NoteActivity.type, title: note.title, delegate: self)
        {
            activity = (note.id, note.title, next)
            await next.becomeCurrent()
        }
        await ended?.invalidate()
    }

    var current: (note: UUID, activity: UserActivity)? { activity.map { ($0.note, $0.activity) } }
}

extension NotesService: UserActivityDelegate {
    /// Puts the note's newest text into the activity that a peer asked for.
    public func userActivityWillSave(_ activity: UserActivity) async throws {
        guard let current = self.activity, current.activity === activity,
            let note = try await store.note(id: current.note), !note.isDeleted
        else { throw HandoffError(.handoffFailed, "the note is not open any more") }
        activity.addUserInfoEntries(NoteActivity.userInfo(note))
    }

    /// The note stays here, too: its versions make two live copies safe.
    public func userActivityWasContinued(_ activity: UserActivity) async {}
}

extension NotesService: HandoffApplication {
    /// Restores a peer's note into the store, losing no text.
    public func continueActivity(_ activity: ContinuedActivity) async throws {
        let incoming = try NoteActivity.note(activity.userInfo, hash: store.hash)
        let outcome = try await store.restore(incoming)
        outcomes[activity.id] =
            switch outcome {
            case .added(let note): (note, .added, nil)
            case .fastForwarded(let note), .broughtBack(let note), .merged(let note): (note, .updated, nil)
            case .ignored(.same): (incoming, .same, nil)
            case .ignored(.older): (incoming, .older, nil)
            case .ignored(.deletedHere): (incoming, .removed, nil)
            case .conflict(let winner, let copy): (winner, .conflict, copy)
            }
        await noteChanged(incoming.id)
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

extension Optional {
    /// `map` with a function that waits.
    fileprivate func asyncMap<Value>(_ transform: (Wrapped) async throws -> Value) async rethrows -> Value? {
        guard let self else { return nil }
        return try await transform(self)
    }
}
