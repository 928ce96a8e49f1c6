import Foundation
import HandoffDiscovery
import HandoffModel
import HandoffSupport
import HandoffTestKit
import Testing

@testable import Handoff
@testable import HandoffTransport

/// Next to nothing: the tests of docs/protocol.md and on the network pay the full price.
private let keyCost: UInt64 = 2

/// Two machines in one process: one holds an account, the other is new.
private struct Scene: Sendable {
    let kitchen: AccountStore
    let laptop: AccountStore
    let events = BoundedChannel<Invitation.Event>(capacity: 64)

    static func with(_ body: @Sendable @escaping (Scene) async throws -> Void) async throws {
        let home = "\(FileManager.default.temporaryDirectory.path)/handoff-account-\(UUID().uuidString)"
        defer { try? FileManager.default.removeItem(atPath: home) }
        let scene = Scene(
            kitchen: AccountStore(configuration: "\(home)/kitchen", keyCost: keyCost),
            laptop: AccountStore(configuration: "\(home)/laptop", keyCost: keyCost)
        )
        _ = try scene.kitchen.create(name: "Ada")
        try await body(scene)
    }

    func invite(
        teams: [String] = [AccountStore.standardTeam],
        discovery: (any Discovery)? = nil,
        clock: MonotonicClock = .system,
        ahead: TimeInterval = 0
    ) async throws -> Invitation {
        try await kitchen.invite(
            host: "kitchen",
            teams: teams,
            discovery: discovery,
            ports: 0...0,
            clock: clock,
            wallClock: { Date().addingTimeInterval(ahead) },
            onEvent: { [events] in _ = try? events.offer($0) }
        )
    }

    func address(of invitation: Invitation) throws -> SocketAddress {
        try #require(SocketAddress(numeric: "127.0.0.1", port: invitation.port))
    }

    func join(_ invitation: Invitation, code: InvitationCode? = nil, ahead: TimeInterval = 0) async throws
        -> JoinedAccount
    {
        try await laptop.join(
            code: code ?? invitation.code,
            host: "laptop",
            addresses: [address(of: invitation)],
            wallClock: { Date().addingTimeInterval(ahead) }
        )
    }

    func nextEvent() async throws -> Invitation.Event { try #require(try await events.next()) }
}

private func wrongCode() throws -> InvitationCode {
    try #require(InvitationCode(bytes: Crypto.randomBytes(InvitationCode.byteCount)))
}

@Suite("Enrolling by a code", .timeLimit(.minutes(1)))
struct InvitationTests {
    @Test("makes a machine of the account, and both ends show the same fingerprint")
    func joined() async throws {
        try await Scene.with { scene in
            let invitation = try await scene.invite()
            let enrolled = Task { try await invitation.run() }
            let joined = try await scene.join(invitation)
            let machine = try await enrolled.value
            #expect(machine.host == "laptop")
            #expect(joined.inviter == "kitchen")
            #expect(joined.machines.map(\.machineID) == [machine.machineID])
            #expect(joined.machines.map(\.fingerprint) == [machine.fingerprint])
            #expect(joined.replaced.isEmpty)
            let (here, there) = try (scene.kitchen.summary(), scene.laptop.summary())
            #expect(there.hash == here.hash && there.name == "Ada" && !there.holdsKey)
            let identities = try [scene.kitchen, scene.laptop].map {
                try Identity.load(directory: $0.identityDirectory)
            }
            #expect(identities[0].discoveryKey == identities[1].discoveryKey)
            #expect(identities[0].machineID != identities[1].machineID)
            await #expect(throws: AccountError.self) { try await scene.laptop.invite(host: "laptop", discovery: nil) }
        }
    }

    @Test("gives a certificate for each team that the invitation is for")
    func teams() async throws {
        try await Scene.with { scene in
            let invitation = try await scene.invite(teams: ["ZZZZZZZZZ9", "A1B2C3D4E5"])
            let enrolled = Task { try await invitation.run() }
            let joined = try await scene.join(invitation)
            #expect(try await enrolled.value.teams == ["ZZZZZZZZZ9", "A1B2C3D4E5"])
            #expect(Set(joined.machines.map(\.machineID)).count == 1)
            #expect(
                try Identity.load(directory: scene.laptop.identityDirectory(team: "A1B2C3D4E5")).teamID == "A1B2C3D4E5"
            )
        }
    }

    @Test("finds the invitation by discovery, beside those of other people")
    func discovered() async throws {
        try await Scene.with { scene in
            let network = LoopbackNetwork()
            let foreign = try await scene.invite(discovery: LoopbackDiscovery(network: network))
            let invitation = try await scene.invite(discovery: LoopbackDiscovery(network: network))
            let strangers = Task { try await foreign.run() }
            defer { strangers.cancel() }
            let enrolled = Task { try await invitation.run() }
            let joined = try await scene.laptop.join(
                code: invitation.code,
                host: "laptop",
                discovery: LoopbackDiscovery(network: network)
            )
            #expect(try await enrolled.value.machineID == joined.machines.first?.machineID)
        }
    }

    @Test("with a wrong code gives nothing, saves nothing, and the right one still works")
    func wrong() async throws {
        try await Scene.with { scene in
            let invitation = try await scene.invite()
            let enrolled = Task { try await invitation.run() }
            await #expect(throws: EnrolmentError(.wrongCode, "")) {
                try await scene.join(invitation, code: wrongCode())
            }
            guard case .wrongCode(_, 1) = try await scene.nextEvent() else {
                Issue.record("the inviting end is not told of it")
                return
            }
            #expect(throws: AccountError.noAccount) { try scene.laptop.summary() }
            _ = try await scene.join(invitation)
            _ = try await enrolled.value
            scene.events.finish()
            #expect(try await scene.events.next() == nil)
        }
    }

    @Test("works once: the code is worth nothing afterwards")
    func once() async throws {
        try await Scene.with { scene in
            let invitation = try await scene.invite()
            let enrolled = Task { try await invitation.run() }
            _ = try await scene.join(invitation)
            _ = try await enrolled.value
            await #expect(throws: EnrolmentError.self) { try await scene.join(invitation) }
        }
    }

    @Test("again makes a new machine, and tells which one it replaces")
    func again() async throws {
        try await Scene.with { scene in
            var machines: [MachineSummary] = []
            for _ in 0..<2 {
                let invitation = try await scene.invite()
                let enrolled = Task { try await invitation.run() }
                let joined = try await scene.join(invitation)
                _ = try await enrolled.value
                #expect(joined.replaced == machines)
                machines = joined.machines
            }
            #expect(try scene.laptop.summary().machines == machines)
        }
    }

    @Test("bears clocks that are an hour apart", arguments: [(3600.0, 0.0), (-3600, 0), (0, 3600), (0, -3600)])
    func hour(kitchen: TimeInterval, laptop: TimeInterval) async throws {
        try await Scene.with { scene in
            let invitation = try await scene.invite(ahead: kitchen)
            let enrolled = Task { try await invitation.run() }
            let joined = try await scene.join(invitation, ahead: laptop)
            _ = try await enrolled.value
            // Valid by either clock.
            let machine = try #require(joined.machines.first)
            #expect(machine.notBefore <= Date().addingTimeInterval(min(kitchen, laptop)))
        }
    }

    @Test("names the difference where clocks are a day apart, and the invitation still stands")
    func day() async throws {
        try await Scene.with { scene in
            let invitation = try await scene.invite()
            let enrolled = Task { try await invitation.run() }
            await #expect {
                try await scene.join(invitation, ahead: -90_000)
            } throws: { error in
                guard let error = error as? EnrolmentError, error.code == .clocksDiffer else { return false }
                // On a busy machine some seconds pass meanwhile.
                return error.description.contains("this machine's clock differs by 1 day")
                    && error.description.contains("from that of kitchen")
            }
            guard case .turnedAway("laptop", let error) = try await scene.nextEvent() else {
                Issue.record("the inviting end is not told of it")
                return
            }
            #expect(error.code == .clocksDiffer)
            #expect(throws: AccountError.noAccount) { try scene.laptop.summary() }
            _ = try await scene.join(invitation)
            _ = try await enrolled.value
        }
    }

    @Test("is over after five minutes")
    func expired() async throws {
        try await Scene.with { scene in
            let manual = ManualClock()
            let invitation = try await scene.invite(clock: manual.clock)
            let enrolled = Task { try await invitation.run() }
            try await manual.waitForSleep(of: InvitationLimits.lifetime)
            manual.advance(by: InvitationLimits.lifetime)
            await #expect(throws: EnrolmentError(.expired, "")) { try await enrolled.value }
            await #expect(throws: EnrolmentError.self) { try await scene.join(invitation) }
        }
    }

    @Test("looks at no code within a second of a wrong one, not even at the right one")
    func slowed() async throws {
        try await Scene.with { scene in
            let manual = ManualClock()
            let invitation = try await scene.invite(clock: manual.clock)
            let enrolled = Task { try await invitation.run() }
            await #expect(throws: EnrolmentError.self) { try await scene.join(invitation, code: wrongCode()) }
            _ = try await scene.nextEvent()
            manual.advance(by: .milliseconds(400))
            let joining = Task { try await scene.join(invitation) }
            try await manual.waitForSleep(of: .milliseconds(600))
            #expect(throws: AccountError.noAccount) { try scene.laptop.summary() }
            manual.advance(by: .milliseconds(600))
            let joined = try await joining.value
            #expect(try await enrolled.value.machineID == joined.machines.first?.machineID)
        }
    }

    @Test("is over after twenty wrong codes, and says that somebody is trying")
    func exhausted() async throws {
        try await Scene.with { scene in
            let manual = ManualClock()
            let invitation = try await scene.invite(clock: manual.clock)
            let running = Task { try await invitation.run() }
            let address = try scene.address(of: invitation)
            let key = PreSharedKey(code: [UInt8](repeating: 1, count: 10), salt: PreSharedKey.fixedSalt, cost: keyCost)
            for count in 1...InvitationLimits.maximumWrongTries {
                await #expect(throws: EnrolmentFailure.wrongCode) {
                    try await EnrolmentConnection.dial(address, key: key, clock: .system)
                }
                guard case .wrongCode(_, count) = try await scene.nextEvent() else {
                    Issue.record("try \(count) is not told")
                    return
                }
                manual.advance(by: InvitationLimits.pause)
            }
            await #expect {
                try await running.value
            } throws: { error in
                guard let error = error as? EnrolmentError, error.code == .tooManyTries else { return false }
                return error.description.contains("somebody is trying")
            }
        }
    }

    @Test("does not look twice at a ClientHello, so that a replayed one holds nobody up")
    func replay() async throws {
        try await Scene.with { scene in
            let manual = ManualClock()
            let invitation = try await scene.invite(clock: manual.clock)
            let enrolled = Task { try await invitation.run() }
            let address = try scene.address(of: invitation)
            let engine = EnrolmentEngine(
                joiningWith: PreSharedKey(code: invitation.code.bytes, salt: PreSharedKey.fixedSalt, cost: keyCost)
            )
            _ = try engine.handshake()
            let hello = Array(engine.output.bytes)
            func replay() async throws -> Socket {
                let socket = try await Dialler.connect(to: address, clock: .system)
                _ = hello.withUnsafeBytes { socket.send($0) }
                try await socket.wait(until: .readable)
                return socket
            }
            // Whoever replays it cannot go on, and is given up once; from then on the time stands still.
            let first = try await replay()
            try await manual.waitForSleep(of: EnrolmentConnection.handshakeLimit)
            manual.advance(by: EnrolmentConnection.handshakeLimit)
            let second = try await replay()
            defer { withExtendedLifetime((first, second)) {} }
            _ = try await scene.join(invitation)
            _ = try await enrolled.value
        }
    }

    @Test("turns away who knows the code and breaks the protocol, and is not used up by it")
    func violation() async throws {
        try await Scene.with { scene in
            let invitation = try await scene.invite()
            let enrolled = Task { try await invitation.run() }
            let key = PreSharedKey(code: invitation.code.bytes, salt: PreSharedKey.fixedSalt, cost: keyCost)
            let garbage: [[UInt8]] = [
                [0xff, 0xff, 0xff, 0xff], [0, 0, 0, 0], [0, 0, 0, 3, 1, 2, 3],
                try EnrolmentMessage.saved.frame(),
                try EnrolmentMessage.request(EnrolmentRequest(certificateRequest: [1, 2], host: "x", time: Date()))
                    .frame(),
            ]
            for bytes in garbage {
                let connection = try await EnrolmentConnection.dial(
                    scene.address(of: invitation),
                    key: key,
                    clock: .system
                )
                try await connection.send(bytes)
                guard case .turnedAway(_, let error) = try await scene.nextEvent() else {
                    Issue.record("the inviting end is not told of it")
                    return
                }
                #expect(error.code == .protocolViolation)
                await connection.close()
            }
            _ = try await scene.join(invitation)
            _ = try await enrolled.value
        }
    }
}
