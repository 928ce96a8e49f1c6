import FoundationEssentials
public import Handoff

/// The notes app as a peer: offers the note that is open, and restores those it continues.
public actor NotesService {
    let store: NotesStore
    private var makePeer: (@Sendable (any HandoffApplication) throws -> HandoffPeer)?
    private var startedPeer: HandoffPeer?

    /// True when ``run(socket:)`` has returned.
    public private(set) var hasStopped = false

    private(set) var leases = Leases()
    private var activity: (note: UUID, title: String, activity: UserActivity)?
    /// What came of the latest restorations, by the activity's id, for those who asked for them.
    var restorations: [(activity: UUID, restoration: Restoration)] = []
    /// The note that takes what is written at its origin; the one that was continued last, or none.
    var followed: UUID?
    /// Notes on their way to other machines, by their activities' ids.
    var deliveries: [UUID: Delivery] = [:]
    /// Attachments that are being fetched for notes that were sent here; cancelled by ``stop()``.
    var transfers: [UUID: Task<Void, Never>] = [:]
    let received: @Sendable (ContinueReport) -> Void

    /// Makes a service that does nothing yet.
    ///
    /// - Parameters:
    ///   - store: The notes.
    ///   - identity: The machine's certificate and keys.
    ///   - discovery: How peers are found.
    ///   - host: The machine's name for people.
    ///   - ports: The ports to try.
    ///   - preferredPort: The port to try first.
    ///   - sendPolicy: From whom it takes notes that are sent to it.
    ///   - places: Where to look for peers besides.
    ///   - knownPeers: Keeps the addresses of paired machines.
    ///   - localPeers: Where programs on this machine ask what it sees.
    ///   - radio: Is heard by other machines and hears how near they are.
    ///   - wifi: Tells how near the machines are that this one serves as an access point.
    ///   - isVisitor: True for a command that does without a running peer.
    ///   - log: Where log lines go.
    ///   - received: Told of each note that another machine sent here.
    public init(
        store: NotesStore,
        identity: Identity,
        discovery: any Discovery,
        host: String,
        ports: ClosedRange<UInt16> = HandoffConfiguration.defaultPorts,
        preferredPort: UInt16? = nil,
        sendPolicy: SendPolicy = .anyPeer,
        places: [NetworkPlace] = [],
        knownPeers: KnownPeersFile? = nil,
        localPeers: LocalPeers? = nil,
        radio: (any RadioSource)? = nil,
        wifi: WiFiRadio? = nil,
        isVisitor: Bool = false,
        log: Log = .none,
        received: @escaping @Sendable (ContinueReport) -> Void = { _ in }
    ) throws {
        self.store = store
        self.received = received
        let configuration = try HandoffConfiguration(
            app: NoteActivity.app,
            name: "notes",
            host: host,
            types: [NoteActivity.type],
            sendPolicy: sendPolicy,
            ports: ports,
            preferredPort: preferredPort,
            places: places,
            isVisitor: isVisitor
        )
        makePeer = { application in
            try HandoffPeer(
                configuration: configuration,
                identity: identity,
                discovery: discovery,
                application: application,
                knownPeers: knownPeers,
                localPeers: localPeers,
                radio: radio,
                wifi: wifi,
                log: log
            )
        }
    }

    /// The peer, made at its first use because it needs the service itself.
    /// - Throws: What making a `HandoffPeer` throws.
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
        // What broken transfers and killed processes have left; without it, only room is lost.
        _ = try? await store.removeUnneededBlobs()
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
        for transfer in transfers.values { transfer.cancel() }
        await refresh()
        await startedPeer?.stop()
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
            let next = try? makeActivity(of: note, on: peer)
        {
            activity = (note.id, note.title, next)
            await next.becomeCurrent()
        }
        await ended?.invalidate()
    }

    /// Makes the activity of a note, which saves the note's newest text whenever it is asked for.
    func makeActivity(of note: Note, on peer: HandoffPeer) throws -> UserActivity {
        let activity = try peer.makeActivity(type: NoteActivity.type, title: note.title, delegate: self)
        activity.targetContentIdentifier = note.id.uuidString
        activity.requiredUserInfoKeys = NoteActivity.requiredKeys
        activity.supportsContinuationStreams = true
        return activity
    }

    var current: (note: UUID, activity: UserActivity)? { activity.map { ($0.note, $0.activity) } }
}
