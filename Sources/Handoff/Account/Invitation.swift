import FoundationEssentials
public import HandoffDiscovery
public import HandoffModel
public import HandoffSupport
import HandoffTransport

/// An invitation that stands: a machine that knows its code can join the account, once.
///
/// Made by ``AccountStore/invite(host:teams:discovery:ports:clock:wallClock:onEvent:)``.
public final class Invitation: Sendable {
    /// The DNS-SD service type of invitations.
    public static let serviceType = "_handoff-enroll._tcp"
    /// The ports that an invitation listens on: the first that is free.
    public static let ports = EnrolmentListener.ports
    /// How long an invitation stands.
    public static let lifetime = InvitationLimits.lifetime

    /// What happens while an invitation stands.
    public enum Event: Sendable {
        /// It is announced by mDNS: the other machine will find it.
        case announced
        /// It is not announced, and why; the other machine can join with the address.
        case notAnnounced(DiscoveryError)
        /// Somebody has tried a wrong code, so many times in all.
        case wrongCode(from: SocketAddress, count: Int)
        /// A machine knew the code and was not enrolled, and why; the invitation still stands.
        case turnedAway(host: String, EnrolmentError)
    }

    /// A machine that was enrolled.
    public struct NewMachine: Hashable, Sendable {
        /// What it calls itself; printed through an escape only.
        public let host: String
        /// Its machine id, a lower-case UUID.
        public let machineID: String
        /// Its teams.
        public let teams: [String]
        /// What the people at both machines compare.
        public let fingerprint: String
    }

    /// What the person at the other machine types.
    public let code: InvitationCode
    /// The port that it listens on.
    public let port: UInt16

    private let store: AccountStore
    private let authority: AccountAuthority
    private let host: String
    private let teams: [String]
    private let discovery: (any Discovery)?
    private let salt: [UInt8]
    private let listener: EnrolmentListener
    private let clock: MonotonicClock
    private let wallClock: @Sendable () -> Date
    private let onEvent: @Sendable (Event) -> Void
    private let limits: LockedBox<InvitationLimits>

    init(
        store: AccountStore,
        authority: AccountAuthority,
        code: InvitationCode,
        keys: (salted: PreSharedKey, fixed: PreSharedKey),
        host: String,
        teams: [String],
        discovery: (any Discovery)?,
        ports: ClosedRange<UInt16>,
        clock: MonotonicClock,
        wallClock: @escaping @Sendable () -> Date,
        onEvent: @escaping @Sendable (Event) -> Void
    ) throws {
        self.code = code
        self.store = store
        self.authority = authority
        self.host = host
        self.teams = teams
        self.discovery = discovery
        self.clock = clock
        self.wallClock = wallClock
        self.onEvent = onEvent
        salt = keys.salted.salt
        listener = try EnrolmentListener(ports: ports, keys: [keys.salted, keys.fixed], clock: clock)
        port = listener.port
        limits = LockedBox(InvitationLimits(now: clock.now))
    }

    /// Waits for the other machine, enrols it, and ends the invitation.
    ///
    /// - Returns: The machine that has joined.
    /// - Throws: ``EnrolmentError`` with code `expired`, `tooManyTries`, or `refused` where the machine could not use
    ///   what it was given; `CancellationError`, which ends the invitation too.
    public func run() async throws -> NewMachine {
        try await withThrowingTaskGroup(of: NewMachine?.self) { group in
            defer { group.cancelAll() }
            group.addTask { [listener] in
                try await listener.run()
                return nil
            }
            if let discovery {
                try announce(by: discovery)
                group.addTask {
                    try await discovery.run()
                    return nil
                }
                group.addTask {
                    await self.follow(discovery)
                    return nil
                }
            }
            group.addTask { try await self.serve() }
            group.addTask { [clock] in
                try await clock.sleep(for: InvitationLimits.lifetime)
                throw Self.expired
            }
            while let machine = try await group.next() {
                if let machine { return machine }
            }
            throw CancellationError()
        }
    }

    private func announce(by discovery: any Discovery) throws {
        let text = ["txtvers=1", "sl=\(BaseEncoding.base64URL(salt))"].map { Array($0.utf8) }
        // As with peers, a name that tells nothing; see docs/protocol.md, "Enrolment".
        let announcement = ServiceAnnouncement(instanceName: Self.makeName(), port: port, text: text)
        try discovery.announce(announcement) { old in
            var new = old
            new.instanceName = Self.makeName()
            return new
        }
    }

    private static func makeName() -> String {
        "e-" + BaseEncoding.base32(Crypto.randomBytes(7)).prefix(10)
    }

    private func follow(_ discovery: any Discovery) async {
        while let event = try? await discovery.events.next() {
            switch event {
            case .announced: onEvent(.announced)
            case .unavailable(let error): onEvent(.notAnnounced(error))
            default: break
            }
        }
    }

    /// Judges one code after the other, so that a wrong one holds up all that come after it.
    private func serve() async throws -> NewMachine? {
        // Whoever has listened can send a machine's ClientHello again, and would hold up the others. One is remembered
        // for each that somebody who knows the code has made, so there are few.
        var hellos: Set<[UInt8]> = []
        for try await connection in listener.connections {
            guard await !hellos.contains(connection.helloDigest) else { continue }
            try await awaitTurn()
            do {
                try await connection.finishHandshake()
            } catch EnrolmentFailure.wrongCode {
                let count = limits.withLock { limits in
                    limits.recordWrongTry(now: clock.now)
                    return limits.wrongTries
                }
                onEvent(.wrongCode(from: connection.remoteAddress, count: count))
                await connection.close()  // within the pause after it
                if limits.withLock({ $0.isExhausted }) { throw Self.exhausted }
                continue
            } catch is EnrolmentFailure {
                if await connection.hasPassedHello { hellos.insert(await connection.helloDigest) }
                continue  // a stranger, or somebody who has given up
            }
            hellos.insert(await connection.helloDigest)
            if let machine = try await enrol(over: connection) { return machine }
        }
        return nil
    }

    private static let expired = EnrolmentError(
        .expired,
        "nobody has joined in time; for a new code: handoff account invite"
    )
    private static let exhausted = EnrolmentError(
        .tooManyTries,
        "\(InvitationLimits.maximumWrongTries) wrong codes were tried, so the invitation is over: somebody is trying to "
            + "get in; for a new code: handoff account invite"
    )

    private func awaitTurn() async throws {
        while true {
            switch limits.withLock({ $0.turn(now: clock.now) }) {
            case .now: return
            case .after(let pause): try await clock.sleep(for: pause)
            case .over: throw Self.expired
            }
        }
    }

    /// Talks to a machine that knows the code.
    ///
    /// - Returns: Nil where it was turned away, and the invitation still stands.
    private func enrol(over connection: EnrolmentConnection) async throws -> NewMachine? {
        var channel = EnrolmentChannel(connection)
        var host = ""
        do {
            guard case .request(let request) = try await channel.receive() else { throw EnrolmentError.violation }
            host = request.host
            let granted = try grant(request)
            guard limits.withLock({ $0.use(now: clock.now) }) else {
                throw Self.expired
            }
            try await channel.send(.grant(granted.grant))
            let machine = NewMachine(
                host: host,
                machineID: granted.machineID,
                teams: teams,
                fingerprint: MachineSummary.text(
                    ofFingerprint: Identity.fingerprint(
                        accountHash: authority.accountHash,
                        certificate: granted.grant.certificates[0]
                    )
                )
            )
            remember(machine, granted.grant)
            try await confirm(machine, &channel)
            await channel.close()
            return machine
        } catch let error as EnrolmentError {
            let reason = error.code == .clocksDiffer ? EnrolmentMessage.clocksDiffer : error.code.description
            try? await channel.send(.refused(reason: reason, message: error.description))
            await channel.close()
            if error.code == .refused { throw error }
            onEvent(.turnedAway(host: host, error))
            return nil
        }
    }

    /// Notes the machine, so that it can be revoked by its name though no link to it ever stood.
    private func remember(_ machine: NewMachine, _ grant: EnrolmentGrant) {
        guard let id = UUID(uuidString: machine.machineID),
            let certificate = Identity.validity(ofCertificate: grant.certificates[0])
        else { return }
        store.note(
            KnownMachine(
                id: id,
                host: machine.host,
                teams: Set(machine.teams),
                lastSeen: wallClock(),
                certificateEnd: Date(timeIntervalSince1970: TimeInterval(certificate.end)),
                serial: certificate.serial,
                holdsKey: nil
            ),
            accountHash: authority.accountHash
        )
    }

    private func grant(_ request: EnrolmentRequest) throws -> (machineID: String, grant: EnrolmentGrant) {
        let now = wallClock()
        let difference = ClockDifference(ours: now, theirs: request.time)
        guard !difference.isTooLarge else {
            throw EnrolmentError(
                .clocksDiffer,
                "this machine's clock differs by \(difference) from that of \(host): set both (timedatectl set-ntp true), "
                    + "and join again with the same code"
            )
        }
        let earlier = min(now, request.time)
        let (machineID, certificates) = try store.issue(
            authority,
            request: request.certificateRequest,
            teams: teams,
            now: Int64(earlier.timeIntervalSince1970)
        )
        let grant = EnrolmentGrant(
            account: authority.certificateDER,
            certificates: certificates,
            discoveryKey: authority.discoveryKey,
            host: host
        )
        return (machineID, grant)
    }

    /// Waits until the machine has saved what it was given; from the grant on the invitation is used.
    private func confirm(_ machine: NewMachine, _ channel: inout EnrolmentChannel) async throws {
        let reason: String
        do {
            switch try await channel.receive() {
            case .saved: return
            case .refused(_, let message): reason = message
            default: reason = "it does not keep to the protocol"
            }
        } catch let error as EnrolmentError {
            reason = error.description
        }
        throw EnrolmentError(
            .refused,
            "\(machine.host) has not confirmed that it is enrolled (machine id \(machine.machineID)): \(reason); look "
                + "there (handoff account show), and if it is not, invite it again"
        )
    }
}
