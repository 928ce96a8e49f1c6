public import FoundationEssentials
public import HandoffDiscovery
public import HandoffModel
public import HandoffRadio
public import HandoffSupport
public import HandoffTransport

/// One running app on one machine, with its links to the others: what a program makes to take part in handoff.
///
/// ``run()`` does the work until ``stop()``; the rest may be called from anywhere meanwhile.
public actor HandoffPeer {
    /// What it tells of itself.
    public nonisolated let configuration: HandoffConfiguration
    /// Its own pair of ids; the instance id is new with each peer.
    public nonisolated let id: PeerID

    nonisolated let identity: Identity
    nonisolated let clock: MonotonicClock
    nonisolated let wallClock: @Sendable () -> Date
    nonisolated let log: Log
    nonisolated let lane = CallbackLane()
    weak let application: (any HandoffApplication)?

    /// Who was revoked, and the account's discovery keys.
    nonisolated let membership: Membership
    /// The identity as it is now: its certificate may have been renewed, and its discovery key replaced.
    var context: TLSContext
    let tags: DiscoveryTags
    let discovery: any Discovery
    /// Work that run() takes into its task group: the links, the dials, the answers.
    private let jobs = BoundedChannel<@Sendable () async -> Void>(capacity: 1024)

    var services: [String: AnnouncedService] = [:]
    /// How its own announcement is seen.
    var ownService: DiscoveredService?
    var schedule = DialSchedule<DialTarget>()
    var dialAlarm: Alarm
    /// Jitter; boxed, because ThreadSanitizer of Swift 6.3 reads the address that an empty struct has not.
    var generator: any RandomNumberGenerator = SystemRandomNumberGenerator()
    var links: [UUID: LinkEntry] = [:]
    var registry: LinkRegistry<UUID>
    var lastUse: [PeerID: Duration] = [:]
    /// Which of the peers that offer something to this app is the nearest, and for how long.
    var nearest = NearestChoice()
    /// When that was last looked at.
    var lastChoice: Duration?
    /// What hears other machines; nil where nobody wants that.
    let radio: (any RadioSource)?
    let wifi: WiFiRadio?
    var hearing = Hearing()
    var tagAlarm: Alarm
    var wifiAlarm: Alarm
    /// Peers that ended their link as a duplicate before the one that stays was paired here, and until when that may
    /// take.
    var superseded: [PeerID: Duration] = [:]

    let localPeers: LocalPeers?
    let knownPeersFile: KnownPeersFile?
    /// Where paired machines were reached last.
    var known = KnownPeers()
    /// True once they are targets; and while they may hold up a first look around.
    var isRecalled = false
    var isRecalling = false

    var current: UserActivity?
    /// True while a job waits that will save the current activity for the first time.
    var isFirstSaveDue = false
    /// What the links were last told, and how often it has changed.
    var toldOffers: [Offer] = []
    var offersRevision = 0
    var expiryAlarm: Alarm
    /// Activities that were fetched, the latest last, so that they can be told when they go on elsewhere.
    var served: [ServedActivity] = []
    var updateAlarm: Alarm
    /// Activities on their way to a peer that they were sent to.
    var sent: [UUID: SentActivity] = [:]

    /// Tokens for streams that were asked for and have not been dialled yet.
    var tokens = StreamTokens<StreamGrant>()
    var tokenAlarm: Alarm
    /// How many streams are being served, for each peer.
    var servedStreams: [PeerID: Int] = [:]
    /// Streams that are open here, as far as anybody uses them.
    var streams: [WatchedStream] = []
    var listener: Listener?
    /// A visitor's, which listens only while it has a stream to give.
    var streamListener: Listener?

    var renewalAlarm: Alarm
    var isRenewing = false

    var fetching: Task<ContinuedActivity, any Error>?
    /// How many activities that peers sent are being taken over.
    var receiving = 0
    /// What was continued here, the latest last, so that the app can be told when the origin changes it.
    var continued: [ContinuedActivity] = []
    /// Those of them whose new state is being fetched.
    var updating: Set<UUID> = []

    /// Why discovery does not work now; nil while it does.
    public internal(set) var discoveryProblem: DiscoveryError?
    /// The port that is listened on; nil for a visitor, and before ``run()``.
    public internal(set) var port: UInt16?
    /// The instance name it announces; nil until that is on the network.
    public internal(set) var announcedName: String?
    var isDiscoverySettled = false
    var watchers: [UUID: BoundedChannel<Void>] = [:]
    /// Grows with each change of what is known of the other peers.
    public private(set) var revision = 0
    var isStopping = false
    private var refusalsLogged: Set<String> = []

    /// Makes a peer that does nothing yet.
    ///
    /// - Parameters:
    ///   - configuration: What it tells of itself.
    ///   - identity: The machine's certificate and keys.
    ///   - discovery: How peers are found.
    ///   - application: Who continues activities; held weakly.
    ///   - knownPeers: Keeps the addresses of paired machines, which are dialled where nothing announces them.
    ///   - localPeers: Where programs on this machine ask what it sees; nil where they cannot. A visitor is not asked.
    ///   - radio: Is heard by other machines and hears how near they are; nil for no radio.
    ///   - wifi: Tells how near the machines are that this one serves as an access point; nil where that does not matter.
    ///   - clock: What deadlines are measured by.
    ///   - wallClock: What expiration dates are compared with.
    ///   - log: Where log lines go.
    /// - Throws: `TransportError` where the identity cannot be used; ``HandoffError/Code/notPaired`` where its
    ///   certificate names no machine; ``AccountError`` or ``IdentityError`` where it cannot be read who was revoked.
    public init(
        configuration: HandoffConfiguration,
        identity: Identity,
        discovery: any Discovery,
        application: (any HandoffApplication)?,
        knownPeers: KnownPeersFile? = nil,
        localPeers: LocalPeers? = nil,
        radio: (any RadioSource)? = nil,
        wifi: WiFiRadio? = nil,
        clock: MonotonicClock = .system,
        wallClock: @escaping @Sendable () -> Date = { Date() },
        log: Log = .none
    ) throws {
        guard let machine = UUID(uuidString: identity.machineID) else {
            throw HandoffError(
                .notPaired,
                "this machine's certificate names no machine: make a new identity",
                pairing: .badCertificate
            )
        }
        guard let team = TeamID(identity.teamID) else {
            throw HandoffError(
                .notPaired,
                "this machine's certificate names no team: make a new identity",
                pairing: .otherTeam
            )
        }
        var generator = SystemRandomNumberGenerator()
        self.configuration = configuration
        self.identity = identity
        self.discovery = discovery
        self.application = application
        knownPeersFile = knownPeers
        self.localPeers = localPeers
        self.radio = radio
        self.wifi = wifi
        self.clock = clock
        self.wallClock = wallClock
        self.log = log
        id = PeerID(machine: machine, instance: InstanceID(using: &generator))
        membership = try Membership(identity, now: Int64(wallClock().timeIntervalSince1970))
        let current = membership.discoveryKeys().first ?? identity.discoveryKey
        context = try Self.makeContext(identity.with(discoveryKey: current), membership)
        tags = DiscoveryTags(accountHash: identity.accountHash, team: team) {
            Crypto.hmacSHA256(key: $0, message: $1)
        }
        registry = LinkRegistry(ourselves: id, capacity: configuration.linkLimit)
        dialAlarm = Alarm(clock: clock)
        expiryAlarm = Alarm(clock: clock)
        updateAlarm = Alarm(clock: clock)
        tokenAlarm = Alarm(clock: clock)
        renewalAlarm = Alarm(clock: clock)
        tagAlarm = Alarm(clock: clock)
        wifiAlarm = Alarm(clock: clock)
    }

    /// Announces, browses, listens and links until ``stop()`` is called or the task is cancelled.
    ///
    /// - Throws: `TransportError` with code `portInUse` where no port is free; `CancellationError`.
    public func run() async throws {
        let listener = try await listen()
        self.listener = listener
        port = listener?.port
        renewIfDue()
        let outcome: Result<Void, any Error>
        do {
            try announce()
            outcome = .success(try await work(listener))
        } catch {
            outcome = isStopping ? .success(()) : .failure(error)
        }
        isStopping = true
        cancelAlarms()
        await listener?.close()
        await streamListener?.close()
        jobs.finish()
        while case .some(.some) = try? await jobs.next() {}  // what was never begun would keep the peer alive
        try outcome.get()
    }

    private func work(_ listener: Listener?) async throws {
        try await withThrowingDiscardingTaskGroup { group in
            // Its end, by cancellation too, withdraws the announcement.
            group.addTask { [discovery] in try await discovery.run() }
            group.addTask { try await self.followDiscovery() }
            group.addTask { await self.followNetworks() }
            group.addTask { await self.recallPeers() }
            group.addTask { await self.followAccount() }
            group.addTask { await self.useRadio() }
            group.addTask { await self.publishStatus() }
            if let listener {
                group.addTask { try await self.accept(from: listener) }
            }
            defer { group.cancelAll() }
            for try await job in jobs { group.addTask { await job() } }
        }
    }

    private func cancelAlarms() {
        dialAlarm.cancel()
        expiryAlarm.cancel()
        updateAlarm.cancel()
        tokenAlarm.cancel()
        renewalAlarm.cancel()
        tagAlarm.cancel()
        wifiAlarm.cancel()
    }

    private func listen() async throws -> Listener? {
        guard !configuration.isVisitor else { return nil }
        if let port = configuration.preferredPort, configuration.ports.contains(port) {
            do {
                return try await listen(on: port...port)
            } catch let error as TransportError where error.code == .portInUse {
                log(.info, "another program has the port of the last run", ["port": "\(port)"])
            }
        }
        return try await listen(on: configuration.ports)
    }

    private func listen(on ports: ClosedRange<UInt16>) async throws -> Listener {
        let protocols = [Self.linkProtocol, Self.streamProtocol]
        return try await Listener.bind(ports: ports, applicationProtocols: protocols, context: context, clock: clock)
    }

    /// Says good-bye to every peer, withdraws the announcement and lets ``run()`` return.
    public func stop() async {
        isStopping = true
        cancelAlarms()
        discovery.withdraw()
        let open = links.values.map(\.link)
        let reason = configuration.isVisitor ? ByeReason.done : .leaving
        await withTaskGroup(of: Void.self) { group in
            for link in open { group.addTask { await link.close(reason) } }
        }
        jobs.finish()
    }

    /// Makes an activity of this app.
    ///
    /// - Parameters:
    ///   - type: The reverse-DNS type; one of the configuration's created types.
    ///   - title: The title that peers show to people.
    ///   - delegate: Who saves its state; held weakly.
    /// - Throws: ``HandoffError/Code/invalidActivity`` where the type is not declared.
    public nonisolated func makeActivity(
        type: String,
        title: String,
        delegate: (any UserActivityDelegate)?
    ) throws(HandoffError) -> UserActivity {
        guard configuration.createdTypes.contains(type) else {
            throw HandoffError(
                .invalidActivity,
                "the app does not declare that it makes activities of the type \(type)"
            )
        }
        return UserActivity(
            id: UUID(),
            type: type,
            title: title,
            contentVersion: configuration.contentVersions[type] ?? .first,
            delegate: delegate,
            peer: self
        )
    }

    /// Runs work in the task group of ``run()``, which cancels it at the end.
    ///
    /// - Returns: False where it was dropped.
    @discardableResult
    func spawn(_ job: @escaping @Sendable () async -> Void) -> Bool {
        // The channel is finished only when the peer stops; what was to be done matters no more.
        guard !isStopping, let isTaken = try? jobs.offer(job) else { return false }
        if !isTaken { log(.error, "too much to do at once: work was dropped") }
        return isTaken
    }

    /// Logs a refusal once for each pair of place and reason.
    func logRefusal(of place: String, because failure: PairingFailure) {
        if refusalsLogged.count >= 256 { refusalsLogged = [] }
        guard refusalsLogged.insert("\(place) \(failure.rawValue)").inserted else { return }
        log(.info, "not paired", ["peer.address": place, "reason": failure.rawValue])
    }

    /// Waits until something is true of the peer.
    ///
    /// - Parameters:
    ///   - limit: The longest wait.
    ///   - condition: Looked at now, and again after each change.
    /// - Returns: False where the wait was over first.
    public func wait(
        atMost limit: Duration,
        until condition: @escaping @Sendable (isolated HandoffPeer) -> Bool
    ) async -> Bool {
        let watcher = UUID()
        let changes = BoundedChannel<Void>(capacity: 1)
        watchers[watcher] = changes
        defer { watchers[watcher] = nil }
        let isTrue = try? await withDeadline(limit, clock: clock, timeoutError: CancellationError()) {
            while await !condition(self) {
                guard try await changes.next() != nil else { return false }
            }
            return true
        }
        return isTrue ?? false
    }

    /// Wakes those who wait for a change.
    func changed() {
        revision += 1
        followHearing()
        for watcher in watchers.values { _ = try? watcher.offer(()) }
    }
}

/// A service that was seen, and what its record says.
struct AnnouncedService: Sendable {
    let service: DiscoveredService
    let account: PeerStatus.Match
    let team: PeerStatus.Match
    /// The account's discovery key that it was made with.
    let discoveryKey: [UInt8]?

    var isOurs: Bool { account == .match && team == .match }
}

/// A link, what it was dialled for and what became of it.
struct LinkEntry: Sendable {
    let link: Link
    /// What was dialled; nil on the acceptor's side.
    let target: DialTarget?
    /// The peer that is being or has been greeted over it, on the dialler's side.
    var prospect: PeerID?
    /// Where the other end listens; nil where that is not known.
    var listening: SocketAddress?
    var peer: RemotePeer?
    /// What the other end offers over this link.
    var offers: [Offer] = []
    /// True once it has said so over this link, be it nothing.
    var hasToldOffers = false
    /// True while a job waits that will tell the other end what is offered here.
    var isTelling = false
    /// True once the other end knows that it is paired: before, nothing but offers may be said.
    var isConfirmed = false
}
