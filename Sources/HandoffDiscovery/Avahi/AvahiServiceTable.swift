import HandoffSupport

/// The services that the browser has told, and the resolvers that look up where they are.
///
/// A resolver is opened when a service appears and when a user asks, and closed after its answer: left open it could
/// tell a stale address, and the daemon grants a client 1,024 objects in all.
struct AvahiServiceTable {
    private enum Browser {
        case closed
        case pausing(until: Duration)
        case looking(AvahiObjectID)
        case waitingForAnswers(AvahiObjectID, until: Duration)
        /// What was not seen again after a new beginning is lost at `sweep`.
        case settled(AvahiObjectID, sweep: Duration?)
    }

    /// How many resolvers are open at once.
    static let resolverLimit = 32
    /// How many appearances are kept, since anybody can make up names: as many as a daemon's cache holds.
    static let appearanceLimit = 4096
    /// The pauses after a resolver's failures; after the last one a service rests until somebody asks for it.
    static let retryPauses: [Duration] = [1, 2, 5, 15, 60].map { .seconds($0) }
    /// The longest that pending answers hold the first look around open: one resolver's life (5 s) and some.
    static let settlingLimit: Duration = .seconds(6)
    /// How long after the first look around a service may still come back before it is lost.
    ///
    /// Those that hung on the daemon that died are announced again only now: measured 0.8 s after `settled`.
    static let returnLimit: Duration = .seconds(5)

    private var browser = Browser.closed
    private var backoff = Backoff(first: .milliseconds(200), limit: .seconds(10))
    private var records: [String: ServiceRecord] = [:]
    private var appearanceCount = 0
    private var queue: [ServiceKey] = []
    private var resolvers: [AvahiObjectID: ServiceKey] = [:]
    private var wanted: Set<String> = []

    var deadline: Duration? {
        var deadlines = records.values.flatMap(\.appearances.values).compactMap { appearance -> Duration? in
            guard case .pausing(let until) = appearance.phase else { return nil }
            return until
        }
        switch browser {
        case .pausing(let until), .waitingForAnswers(_, let until), .settled(_, let until?): deadlines.append(until)
        case .closed, .looking, .settled(_, nil): break
        }
        return deadlines.min()
    }

    func owns(_ id: AvahiObjectID) -> Bool { browserID == id || resolvers[id] != nil }

    private var browserID: AvahiObjectID? {
        switch browser {
        case .looking(let id), .waitingForAnswers(let id, _), .settled(let id, _): id
        case .closed, .pausing: nil
        }
    }

    // MARK: The browser

    mutating func open(_ turn: inout AvahiTurn) {
        browser = .looking(turn.open(.browser))
    }

    /// The client is gone and its objects with it; what was found stays until the next look around is over.
    mutating func clientClosed() {
        browser = .closed
        resolvers = [:]
        forgetSight()
    }

    mutating func appeared(_ id: AvahiObjectID, _ key: ServiceKey, _ turn: inout AvahiTurn) {
        guard id == browserID, ServiceAnnouncement.isValid(instanceName: key.instanceName) else { return }
        let known = records[key.instanceName]?.appearances[key.place]
        if known == nil {
            guard appearanceCount < Self.appearanceLimit else { return }
            appearanceCount += 1
        }
        var appearance = known ?? .init()
        appearance.isSeen = true
        appearance.failures = 0
        records[key.instanceName, default: .init()].appearances[key.place] = appearance
        enqueue(key)
        fill(&turn)
    }

    mutating func disappeared(_ id: AvahiObjectID, _ key: ServiceKey, _ turn: inout AvahiTurn) {
        guard id == browserID else { return }
        remove(key, &turn)
        fill(&turn)
        settleIfDone(&turn)
    }

    mutating func allForNow(_ id: AvahiObjectID, _ turn: inout AvahiTurn) {
        guard case .looking(id) = browser else { return }
        browser = .waitingForAnswers(id, until: turn.now + Self.settlingLimit)
        settleIfDone(&turn)
    }

    private mutating func browserFailed(_ id: AvahiObjectID, _ turn: inout AvahiTurn) {
        turn.act(.close(id))
        for resolver in resolvers.keys { turn.act(.close(resolver)) }
        resolvers = [:]
        forgetSight()
        browser = .pausing(until: turn.now + turn.pause(&backoff))
    }

    private mutating func forgetSight() {
        queue = []
        records = records.mapValues { $0.unseen() }
    }

    private mutating func settleIfDone(_ turn: inout AvahiTurn) {
        guard case .waitingForAnswers(let id, let until) = browser else { return }
        guard queue.isEmpty && resolvers.isEmpty || until <= turn.now else { return }
        let isAnythingMissing = records.values.contains { $0.appearances.values.contains { !$0.isSeen } }
        browser = .settled(id, sweep: isAnythingMissing ? turn.now + Self.returnLimit : nil)
        backoff.reset()
        turn.act(.emit(.settled))
    }

    private mutating func sweepIfDue(_ turn: inout AvahiTurn) {
        guard case .settled(let id, let sweep?) = browser, sweep <= turn.now else { return }
        browser = .settled(id, sweep: nil)
        for (name, record) in records {
            for (place, appearance) in record.appearances where !appearance.isSeen {
                remove(ServiceKey(instanceName: name, place: place), &turn)
            }
        }
    }

    // MARK: The resolvers

    /// A user waits for a fresh answer.
    mutating func want(_ instanceName: String, _ turn: inout AvahiTurn) {
        wanted.insert(instanceName)
        for (place, appearance) in records[instanceName]?.appearances ?? [:] where appearance.isSeen {
            enqueue(ServiceKey(instanceName: instanceName, place: place), first: true)
        }
        fill(&turn)
    }

    mutating func forget(_ instanceName: String) {
        wanted.remove(instanceName)
    }

    /// All that waited were refused.
    mutating func forgetAll() {
        wanted = []
    }

    mutating func answered(_ id: AvahiObjectID, _ answer: ServiceAnswer, _ turn: inout AvahiTurn) {
        guard let key = close(resolver: id, &turn) else { return }
        update(key) { appearance in
            appearance.phase = .resting
            appearance.failures = 0
            appearance.answer = answer
            appearance.answeredAt = turn.now
        }
        report(key.instanceName, &turn)
        if let service = records[key.instanceName]?.reported, wanted.remove(key.instanceName) != nil {
            turn.act(.answer(service))
        }
        fill(&turn)
        settleIfDone(&turn)
    }

    /// One of our objects failed.
    mutating func failed(_ id: AvahiObjectID, _ turn: inout AvahiTurn) {
        if id == browserID { return browserFailed(id, &turn) }
        guard let key = close(resolver: id, &turn) else { return }
        update(key) { appearance in
            let pauses = Self.retryPauses
            let hasPause = appearance.failures < pauses.count
            appearance.phase = hasPause ? .pausing(until: turn.now + pauses[appearance.failures]) : .resting
            appearance.failures += 1
        }
        fill(&turn)
        settleIfDone(&turn)
    }

    mutating func advance(_ turn: inout AvahiTurn) {
        if case .pausing(let until) = browser, until <= turn.now { open(&turn) }
        sweepIfDue(&turn)
        for (name, record) in records {
            for (place, appearance) in record.appearances {
                guard case .pausing(let until) = appearance.phase, until <= turn.now else { continue }
                enqueue(ServiceKey(instanceName: name, place: place))
            }
        }
        fill(&turn)
        settleIfDone(&turn)
    }

    private mutating func enqueue(_ key: ServiceKey, first: Bool = false) {
        switch records[key.instanceName]?.appearances[key.place]?.phase {
        case .resolving, nil: return
        case .queued:
            guard first else { return }
            queue.removeAll { $0 == key }
        case .pausing, .resting: break
        }
        queue.insert(key, at: first ? 0 : queue.count)
        update(key) { $0.phase = .queued }
    }

    private mutating func fill(_ turn: inout AvahiTurn) {
        while resolvers.count < Self.resolverLimit, !queue.isEmpty {
            let key = queue.removeFirst()
            let id = turn.open(.resolver(key))
            resolvers[id] = key
            update(key) { $0.phase = .resolving(id) }
        }
    }

    private mutating func close(resolver id: AvahiObjectID, _ turn: inout AvahiTurn) -> ServiceKey? {
        guard let key = resolvers.removeValue(forKey: id) else { return nil }
        turn.act(.close(id))
        return key
    }

    // MARK: The records

    private mutating func update(_ key: ServiceKey, _ change: (inout ServiceRecord.Appearance) -> Void) {
        guard var appearance = records[key.instanceName]?.appearances[key.place] else { return }
        change(&appearance)
        records[key.instanceName]?.appearances[key.place] = appearance
    }

    private mutating func remove(_ key: ServiceKey, _ turn: inout AvahiTurn) {
        guard let gone = records[key.instanceName]?.appearances.removeValue(forKey: key.place) else { return }
        appearanceCount -= 1
        switch gone.phase {
        case .queued: queue.removeAll { $0 == key }
        case .resolving(let id): _ = close(resolver: id, &turn)
        case .pausing, .resting: break
        }
        // Fewer places are no news: mostly the others go, too, one after the other. The next answer tells.
        guard records[key.instanceName]?.appearances.isEmpty == true else { return }
        let record = records.removeValue(forKey: key.instanceName)
        if record?.reported != nil { turn.act(.emit(.lost(instanceName: key.instanceName))) }
    }

    private mutating func report(_ instanceName: String, _ turn: inout AvahiTurn) {
        guard let record = records[instanceName], let service = record.merged(instanceName: instanceName),
            service != record.reported
        else { return }
        records[instanceName]?.reported = service
        turn.act(.emit(.found(service)))
    }
}
