import Foundation
import HandoffDiscovery
import HandoffModel
import HandoffSupport
import HandoffTestKit
import HandoffTransport
import Testing

@testable import Handoff

/// Machines with their files.
@Suite("The machines of an account", .timeLimit(.minutes(2)))
struct MemberTests {
    private let network = LoopbackNetwork()

    /// Runs a test with a directory for each host, which holds its configuration.
    private func withHosts(_ body: (_ directory: (String) -> AccountStore) async throws -> Void) async throws {
        let home = "\(FileManager.default.temporaryDirectory.path)/handoff-members-\(UUID().uuidString)"
        defer { try? FileManager.default.removeItem(atPath: home) }
        try await body { AccountStore(configuration: "\(home)/\($0)") }
    }

    /// Enrols a machine without a network, as an invitation would; a certificate issued some days ago.
    private func enrol(_ store: AccountStore, by inviter: AccountStore, machineID: String, daysAgo: Double = 0) throws {
        let authority = try inviter.currentAuthority()
        let machine = NewMachine()
        let certificate = authority.issue(
            request: machine.certificateRequest(),
            team: AccountStore.standardTeam,
            machineID: machineID,
            now: Int64(Date().timeIntervalSince1970 - daysAgo * 86_400)
        )
        let identity = try machine.identity(
            account: authority.certificateDER,
            certificate: try #require(certificate),
            discoveryKey: authority.discoveryKey
        )
        try store.save([identity])
    }

    private func start(
        _ store: AccountStore,
        _ name: String,
        clock: MonotonicClock = .system,
        wallClock: @escaping @Sendable () -> Date = { Date() }
    ) throws -> TestPeer {
        try TestPeer(
            Identity.load(directory: store.identityDirectory),
            on: network,
            name: name,
            clock: clock,
            wallClock: wallClock
        )
    }

    @Test("are revoked by their names in the files, and a peer that runs notices, acts on it, and passes it on")
    func revoke() async throws {
        try await withHosts { host in
            _ = try host("a").create(name: "Ada")
            let (second, third) = (TestAccount.randomUUID(), TestAccount.randomUUID())
            try enrol(host("b"), by: host("a"), machineID: second)
            try enrol(host("x"), by: host("a"), machineID: third)
            let peers = try ["a", "b", "x"].map { try start(host($0), $0) }
            for peer in peers { #expect(await peer.isLinked(to: 2)) }
            let isMet = try await eventually { try host("a").members(host: "a").count == 3 }
            #expect(isMet)
            let members = try host("a").members(host: "a")
            #expect(members.map(\.host) == ["a", "b", "x"])
            #expect(members.map(\.isThisMachine) == [true, false, false])
            #expect(members.map(\.holdsKey) == [true, false, false])
            #expect(members.allSatisfy { $0.teams == [AccountStore.standardTeam] && $0.revoked == nil })
            let isKnown = try await eventually {
                try host("b").members(host: "b").contains { $0.host == "a" && $0.holdsKey == true }
            }
            #expect(isKnown)
            let lost = try AccountStore.member(named: "x", of: members)
            #expect(lost.machineID == third)
            // Only where the account's key is, and the error says where.
            let failure = #expect(throws: AccountError.self) { try host("b").revoke(lost) }
            #expect(failure?.code == .noKey)
            #expect(failure?.description.contains("revoke on a") == true)
            #expect(throws: AccountError.self) { try host("a").revoke(members[0]) }

            try host("a").revoke(lost)
            #expect(await eventually(peers[2].peer) { $0.links.isEmpty })
            for peer in peers[...1] {
                #expect(await peer.hasRevoked(peers[2]))
                #expect(await peer.isLinked())
            }
            #expect(await peers[2].logs("reason=revoked"))
            // On both disks, with the key that invitations and other programs read.
            let key = try host("a").currentAuthority().discoveryKey(ofGeneration: 2)
            for name in ["a", "b"] {
                let isThere = try await eventually {
                    try Identity.load(directory: host(name).identityDirectory).discoveryKey == key
                }
                #expect(isThere)
                #expect(try host(name).members(host: name).last?.revoked != nil)
            }
            #expect(try host("a").currentAuthority().discoveryKey == key)
            #expect(try Identity.load(directory: host("x").identityDirectory).discoveryKey != key)
            for peer in peers { await peer.stop() }

            // Whoever starts anew knows it.
            let again = try start(host("a"), "a")
            #expect(again.peer.membership.isRevoked(third))
            try host("a").revoke(try AccountStore.member(named: third, of: host("a").members(host: "a")))
            #expect(again.peer.membership.statements.keys.count == 2)
            await again.stop()
        }
    }

    @Test("are found by a beginning of their ids or their hosts' names, and never guessed")
    func names() throws {
        func member(_ id: String, _ host: String?, revoked: Bool = false) -> AccountMember {
            AccountMember(
                machineID: id + "-8b86-4d01-b42d-00cf4fc964ff",
                host: host,
                teams: [],
                lastSeen: nil,
                certificateEnd: nil,
                revoked: revoked ? Date() : nil,
                isThisMachine: false,
                holdsKey: nil
            )
        }
        let members = [
            member("6f9619ff", "kitchen"), member("6f9700aa", "kitchen"), member("0011aabb", "laptop"),
            member("77000000", "laptop", revoked: true),
        ]
        func code(_ name: String) -> AccountError.Code? {
            do {
                _ = try AccountStore.member(named: name, of: members)
                return nil
            } catch {
                return error.code
            }
        }
        #expect(try AccountStore.member(named: "6F961", of: members) == members[0])
        #expect(try AccountStore.member(named: "laptop", of: members) == members[2])
        #expect(try AccountStore.member(named: "77", of: members) == members[3])
        #expect(code("6f9") == .ambiguous)
        #expect(code("kitchen") == .ambiguous)
        #expect(code("nobody") == .noMachine)
        #expect(code("") == .noMachine)
        let unknown = TestAccount.randomUUID()
        #expect(try AccountStore.member(named: unknown.uppercased(), of: members).machineID == unknown)
    }

    @Test("renew their certificates from 60 days before the end over a link to the machine with the key, not before")
    func renews() async throws {
        try await withHosts { host in
            _ = try host("a").create(name: "Ada")
            let id = TestAccount.randomUUID()
            try enrol(host("b"), by: host("a"), machineID: id, daysAgo: 339)
            let old = try Identity.load(directory: host("b").identityDirectory)
            let (clock, day) = (ManualClock(), LockedBox(0.0))
            let issuer = try start(host("a"), "a")
            let peer = try start(host("b"), "b", clock: clock.clock) {
                Date(timeIntervalSinceNow: day.withLock { $0 } * 86_400)
            }
            #expect(await peer.isLinked())
            #expect(await eventually(peer.peer) { $0.links.values.allSatisfy(\.isConfirmed) })
            await peer.peer.renewIfDue()
            let isAsking = await peer.peer.isRenewing
            #expect(!isAsking)
            #expect(try Identity.load(directory: host("b").identityDirectory).notAfter == old.notAfter)

            day.withLock { $0 = 1.1 }
            clock.advance(by: .seconds(3600))
            let isRenewed = try await eventually {
                try Identity.load(directory: host("b").identityDirectory).notAfter > old.notAfter + 300 * 86_400
            }
            #expect(isRenewed)
            #expect(await peer.logs("the certificate was renewed"))
            #expect(await issuer.logs("a certificate was renewed peer.machine=\(id)"))
            #expect(await peer.peer.context.identity.notAfter > old.notAfter)
            await peer.stop()
            // It is used for new handshakes, and another program with the same identity takes it over.
            let other = try start(host("b"), "b")
            #expect(await other.isLinked())
            await other.stop()
            await issuer.stop()
        }
    }

    @Test("renew their own certificates where they hold the account's key, without anybody")
    func renewsItself() async throws {
        try await withHosts { host in
            let made = try host("a").create(name: "Ada")
            let id = try #require(made.machines.first).machineID
            try enrol(host("a"), by: host("a"), machineID: id, daysAgo: 350)
            let old = try Identity.load(directory: host("a").identityDirectory)
            let peer = try start(host("a"), "a")
            #expect(await peer.logs("the certificate was renewed"))
            let renewed = try Identity.load(directory: host("a").identityDirectory)
            #expect(renewed.machineID == id && renewed.notAfter > old.notAfter)
            await peer.stop()
        }
    }

    @Test("are given no certificate for another id, nor early, nor after a revocation")
    func refusals() async throws {
        try await withHosts { host in
            _ = try host("a").create(name: "Ada")
            let (early, other) = (TestAccount.randomUUID(), TestAccount.randomUUID())
            try enrol(host("early"), by: host("a"), machineID: early)
            try enrol(host("late"), by: host("a"), machineID: other, daysAgo: 350)
            let issuer = try start(host("a"), "a")
            let first = try Identity.load(directory: host("early").identityDirectory)
            let raw = try await RawPeer(issuer, as: first)
            try await raw.pair()
            try await raw.send(.renew(request: 1, certificateRequest: first.certificateRequest()))
            let refused = try await raw.nextButPings()
            guard case .failure(1, let error) = refused else { throw CancellationError() }
            #expect(error.code == .refused)

            let second = try Identity.load(directory: host("late").identityDirectory)
            let late = try await RawPeer(issuer, as: second)
            try await late.pair()
            // Whatever the request asks for: only the certificate of the link counts.
            try await late.send(.renew(request: 2, certificateRequest: NewMachine().certificateRequest()))
            let answer = try await late.nextButPings()
            guard case .certificate(2, let der) = answer else { throw CancellationError() }
            #expect(throws: IdentityError.self) { try second.renewed(with: der) }
            try await late.send(.renew(request: 3, certificateRequest: [1, 2, 3]))
            guard case .failure(3, _) = try await late.nextButPings() else { throw CancellationError() }
            try await late.send(.renew(request: 4, certificateRequest: second.certificateRequest()))
            guard case .certificate(4, let good) = try await late.nextButPings() else { throw CancellationError() }
            #expect(try second.renewed(with: good).machineID == other)

            try host("a").revoke(try AccountStore.member(named: other, of: host("a").members(host: "a")))
            #expect(try await late.goodbye() == .refused(.revoked))
            await issuer.stop()
        }
    }

    @Test("do not start where it cannot be read who was revoked, and are told what to do")
    func damaged() async throws {
        try await withHosts { host in
            _ = try host("a").create(name: "Ada")
            try host("a").revoke(
                try AccountStore.member(named: TestAccount.randomUUID(), of: host("a").members(host: "a"))
            )
            let file = "\(host("a").configuration)/members/statements"
            let mode = try FileManager.default.attributesOfItem(atPath: file)[.posixPermissions] as? Int
            #expect(mode == 0o600)
            try Data([1, 2, 3]).write(to: URL(fileURLWithPath: file))
            let failure = #expect(throws: AccountError.self) { try start(host("a"), "a") }
            #expect(failure?.code == .damaged)
            #expect(failure?.description.contains("remove it") == true)
            try host("a").leave(givesUpKey: true)
            #expect(try Directory.names(in: host("a").configuration).isEmpty)
        }
    }
}
