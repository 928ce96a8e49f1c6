import FoundationEssentials
import HandoffModel
import HandoffSupport
import HandoffTransport

/// What a link tells the layer above; called in the order of the messages, one at a time.
protocol LinkOwner: AnyObject, Sendable {
    /// Whether a dialler's link may go on to greet a peer that has greeted it: not where another link does.
    func link(_ link: Link, mayGreet peer: RemotePeer) async -> Bool
    /// `hello` went both ways and both ends agreed.
    func link(_ link: Link, paired peer: RemotePeer) async
    /// A message that is not the link's own business.
    func link(_ link: Link, received message: Message) async
    /// The round-trip time was measured anew.
    func linkMeasured(_ link: Link) async
}

/// One control connection: frames in and out, the state machine, requests and their answers, and the pings.
actor Link {
    /// Each step of a link's life must be over by then.
    enum Deadline {
        /// `hello` both ways, from the end of the handshake.
        static let pairing = Duration.seconds(5)
        /// An answer to a request.
        static let request = Duration.seconds(10)
        /// The good-bye; a peer that takes nothing must not hold up the end.
        static let closing = Duration.seconds(3)
    }

    nonisolated let id = UUID()
    nonisolated let role: LinkRole
    nonisolated let connection: Connection

    private let clock: MonotonicClock
    private unowned let owner: any LinkOwner  // the owner awaits run(), so it outlives the link
    private var machine: LinkStateMachine
    private var presence: LinkPresence
    private var decoder = FrameDecoder()
    private(set) var peer: RemotePeer?
    private var end: LinkEnd?
    /// Finished when what belongs to the end, the good-bye first of all, has been done.
    private let farewell = BoundedChannel<Void>(capacity: 1)

    private var requests: [Int: BoundedChannel<Message>] = [:]
    private var nextRequest = 1
    /// Those who wait because the other end serves no more at once, the first first.
    private var requesters: [BoundedChannel<Void>] = []
    /// Requests of the other end that are being answered; more than anybody needs at once are refused.
    private var serving = 0
    private static let maximumServing = 8
    private var reasonWhenIdle: ByeReason?

    private var desiredOffers: [Offer]?
    private var sentOffers: [Offer]?
    private var offersRevision = 0
    private var isSendingOffers = false
    private var remoteIsOffering = false
    /// True where the latency counts though nothing is offered: for a visitor, who may show it.
    private let measuresAlways: Bool

    private var alarm: Alarm  // for pairing, then for presence, then for the end; cancelled in run()
    private var pongWaiters: [BoundedChannel<Void>] = []
    private var measurementWaiters: [BoundedChannel<Void>] = []

    init(connection: Connection, role: LinkRole, policy: LinkPolicy, clock: MonotonicClock, owner: any LinkOwner) {
        self.connection = connection
        self.role = role
        self.clock = clock
        self.owner = owner
        measuresAlways = policy.hello.isVisitor
        let certificate = connection.peer
        machine = LinkStateMachine(
            role: role,
            policy: policy,
            machine: certificate.machineID.flatMap { UUID(uuidString: $0) },
            teamIDs: certificate.teamIDs
        )
        presence = LinkPresence(at: clock.now)
        alarm = Alarm(clock: clock)
    }

    /// Serves the link until it ends.
    ///
    /// - Returns: How it ended; its connection is closed then, and every open request has failed.
    func run() async -> LinkEnd {
        alarm.set(at: clock.now + Deadline.pairing) { [weak self] in await self?.pairingTimedOut() }
        await perform(machine.start())
        while end == nil {
            do {
                guard let bytes = try await connection.read() else {
                    await perform(machine.connectionLost(.connectionLost))
                    break
                }
                await received(bytes)
            } catch {
                await perform(machine.connectionLost(PairingFailure(error)))
            }
        }
        // Somebody else may have ended the link while a message was looked at, and be about to say good-bye; that is
        // not to be overtaken by closing, nor by the end of this task.
        await Task(executorPreference: QuietExecutor.shared) { [farewell] in _ = try? await farewell.next() }.value
        await connection.close()  // or waits for whoever is closing it
        alarm.cancel()
        for waiter in pongWaiters { waiter.finish() }
        pongWaiters = []
        for waiter in measurementWaiters { waiter.finish() }
        measurementWaiters = []
        for answer in requests.values { answer.finish(throwing: endError) }
        requests = [:]
        for turn in requesters { turn.finish() }
        return end ?? .lost(.connectionLost)
    }

    // MARK: - What the peer asks of its link

    /// Tells the other end what is offered; only the latest list travels when several come at once.
    ///
    /// - Parameters:
    ///   - offers: The whole list.
    ///   - revision: Grows with each change of the list, so that an older one that was held up is not told last.
    func setOffers(_ offers: [Offer], revision: Int) async {
        guard revision >= offersRevision else { return }
        offersRevision = revision
        desiredOffers = offers
        updatePresence()
        guard !isSendingOffers, peer != nil else { return }
        isSendingOffers = true
        while let offers = desiredOffers, offers != sentOffers, end == nil {
            sentOffers = offers
            await perform([.send(.offers(offers))])
        }
        isSendingOffers = false
        rearm()
    }

    /// Sends a message that wants no answer.
    func send(_ message: Message) async {
        guard end == nil else { return }
        await perform([.send(message)])
    }

    /// Asks the other end for something and waits for the answer.
    ///
    /// - Parameters:
    ///   - limit: How long it may take.
    ///   - make: Makes the message with the number of the request.
    /// - Throws: ``HandoffError``: what the other end answered, or why no answer came; `CancellationError`.
    func request(within limit: Duration = Deadline.request, _ make: (Int) -> Message) async throws -> Message {
        try await waitForTurn(within: limit)
        guard end == nil else { throw endError }
        let number = nextRequest
        nextRequest += 1
        let answer = BoundedChannel<Message>(capacity: 1)
        requests[number] = answer
        await perform([.send(make(number))])
        let timeout = HandoffError(.remoteApplicationTimedOut, "the peer did not answer within \(limit)")
        let outcome: Result<Message?, any Error>
        do {
            outcome = .success(
                try await withDeadline(limit, clock: clock, timeoutError: timeout) {
                    try await answer.next()
                }
            )
        } catch {
            outcome = .failure(error)
        }
        requests[number] = nil
        callNext()
        await endIfIdle()
        switch try outcome.get() {
        case .failure(_, let error), .decline(_, let error): throw error
        case .unsupported: throw HandoffError(.versionUnsupported, "the peer does not know this request: update it")
        case let message?: return message
        case nil: throw endError
        }
    }

    /// Waits until so few requests are open that the other end serves one more.
    private func waitForTurn(within limit: Duration) async throws {
        let timeout = HandoffError(.remoteApplicationTimedOut, "the peer is busy with other requests")
        while requests.count >= Self.maximumServing, end == nil {
            let turn = BoundedChannel<Void>(capacity: 1)
            requesters.append(turn)
            defer { requesters.removeAll { $0 === turn } }
            do {
                _ = try await withDeadline(limit, clock: clock, timeoutError: timeout) { try await turn.next() }
            } catch {
                // Its turn may have come just now: it goes to the next one.
                callNext()
                throw error
            }
        }
    }

    private func callNext() {
        if !requesters.isEmpty { requesters.removeFirst().finish() }
    }

    /// Runs the answer to a request that the owner was given, once for each; a link that waits to end waits for it.
    func serve(_ answer: @Sendable () async -> Message) async {
        let message = await answer()
        await send(message)
        serving -= 1
        await endIfIdle()
    }

    /// Ends the link with a reason, at once.
    func close(_ reason: ByeReason) async {
        // A task of its own, so that a cancelled caller still says good-bye; the link's deadline ends it.
        await Task(executorPreference: QuietExecutor.shared) { await self.sayGoodBye(reason) }.value
    }

    private func sayGoodBye(_ reason: ByeReason) async {
        await perform(machine.end(reason))
    }

    /// Ends the link with a reason when no request is open, in either direction.
    func closeWhenIdle(_ reason: ByeReason) async {
        reasonWhenIdle = reason
        await endIfIdle()
    }

    /// Asks whether the other end is still there.
    ///
    /// - Parameters:
    ///   - limit: The longest wait.
    ///   - age: A peer that was heard of so recently counts as there.
    func isAlive(within limit: Duration, heardWithin age: Duration = .zero) async -> Bool {
        guard end == nil else { return false }
        // A link without its first offers is just being paired; a ping must not overtake them.
        guard sentOffers != nil else { return true }
        if age > .zero, clock.now - presence.lastHeard <= age { return true }
        let pong = BoundedChannel<Void>(capacity: 1)
        pongWaiters.append(pong)
        defer { pongWaiters.removeAll { $0 === pong } }
        await perform(presence.probe(at: clock.now))
        let isAnswered = try? await withDeadline(limit, clock: clock, timeoutError: CancellationError()) {
            try await pong.next() != nil
        }
        return isAnswered ?? false
    }

    /// What the ranking wants to know.
    var proximity: (latency: LatencyReading?, isSuspect: Bool) { (presence.latency, presence.isSuspect) }

    /// Waits until the latency rests on a whole burst, where it is measured at all.
    ///
    /// - Parameter limit: The longest wait.
    func awaitMeasurement(within limit: Duration) async {
        guard end == nil, presence.isMeasuring, presence.latency?.burstCount ?? 0 == 0 else { return }
        let measurement = BoundedChannel<Void>(capacity: 1)
        measurementWaiters.append(measurement)
        defer { measurementWaiters.removeAll { $0 === measurement } }
        _ = try? await withDeadline(limit, clock: clock, timeoutError: CancellationError()) {
            try await measurement.next()
        }
    }

    // MARK: - Inside

    private func received(_ bytes: [UInt8]) async {
        decoder.append(bytes)
        do {
            while end == nil, let body = try decoder.next() {
                presence.heard(at: clock.now)
                await perform(machine.received(body: body))
            }
        } catch {
            await perform(machine.receivedMalformedFrame())
        }
    }

    private func perform(_ actions: [LinkStateMachine.Action]) async {
        if case .close(let end)? = actions.last {
            // At once, so that nothing follows the good-bye.
            self.end = end
            alarm.set(at: clock.now + Deadline.closing) { [connection] in connection.abort() }
        }
        for action in actions {
            switch action {
            case .send(let message):
                guard role == .dialler, case .hello = message, let prospect = machine.prospect else {
                    await write(message)
                    continue
                }
                if await owner.link(self, mayGreet: prospect) {
                    if end == nil { await write(message) }
                } else {
                    await perform(machine.end(.duplicate))
                }
            case .paired(let peer):
                self.peer = peer
                await owner.link(self, paired: peer)
            case .deliver(let message): await deliver(message)
            case .close(.lost): connection.abort()
            case .close(.bye), .close(.ended): await connection.close()
            }
        }
        if case .close? = actions.last { farewell.finish() }
    }

    private func perform(_ actions: [LinkPresence.Action]) async {
        rearm()  // first: a ping that nobody takes must be missed like one that nobody answers
        for action in actions {
            switch action {
            case .ping(let sequence): await write(.ping(sequence: sequence))
            case .lost: await perform(machine.connectionLost(.timedOut))
            }
        }
    }

    private func write(_ message: Message) async {
        do {
            try await connection.write(Frame.encode(message.encoded()))
        } catch {
            // The refusal that explains a failed write comes in by the reading side, which ends the link.
        }
    }

    private func deliver(_ message: Message) async {
        switch message {
        case .pong(let sequence):
            let earlier = presence.latency
            presence.pong(sequence: sequence, at: clock.now)
            rearm()
            for waiter in pongWaiters { _ = try? waiter.offer(()) }
            guard let latency = presence.latency, latency.burstCount > 0, latency != earlier else { return }
            for waiter in measurementWaiters { _ = try? waiter.offer(()) }
            await owner.linkMeasured(self)
        case .activity(let request, _), .failure(let request, _), .unsupported(let request?, _),
            .accept(let request), .decline(let request, _), .stream(let request, _), .certificate(let request, _):
            _ = try? requests[request]?.offer(message)
        case .fetch(let request, _), .send(let request, _), .openStream(let request, _), .renew(let request, _):
            guard serving < Self.maximumServing else {
                return await write(.failure(request: request, HandoffError(.refused, "too many requests at once")))
            }
            serving += 1
            await owner.link(self, received: message)
        case .offers(let offers):
            remoteIsOffering = !offers.isEmpty
            updatePresence()
            await owner.link(self, received: message)
        default:
            await owner.link(self, received: message)
        }
    }

    private func updatePresence() {
        presence.isOffering = remoteIsOffering || !(desiredOffers ?? []).isEmpty
        presence.measure(remoteIsOffering || measuresAlways, at: clock.now)
        rearm()
    }

    private func endIfIdle() async {
        guard let reason = reasonWhenIdle, requests.isEmpty, serving == 0 else { return }
        await close(reason)
    }

    /// Sets the alarm to what presence wants next.
    ///
    /// Not before the first offers have left: they tell a dialler that it is paired, so no ping may overtake them.
    private func rearm() {
        guard end == nil, sentOffers != nil else { return }
        alarm.set(at: presence.deadline) { [weak self] in await self?.presenceIsDue() }
    }

    private func presenceIsDue() async {
        await perform(presence.due(at: clock.now))
    }

    private func pairingTimedOut() async {
        guard peer == nil else { return }
        await perform(machine.end(.refused(.timedOut)))
    }

    private var endError: HandoffError {
        switch end {
        case .bye(.refused(let failure)), .ended(.refused(let failure)):
            HandoffError(.notPaired, "the peer is not paired: \(failure)", pairing: failure)
        case .bye(.duplicate), .ended(.duplicate):
            HandoffError(.connectionUnavailable, "the link gave way to another one to the same peer")
        default: HandoffError(.handoffFailed, "the peer is gone")
        }
    }
}
