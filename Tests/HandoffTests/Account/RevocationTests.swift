import Foundation
import HandoffDiscovery
import HandoffModel
import HandoffSupport
import HandoffTestKit
import HandoffTransport
import Testing

@testable import Handoff

/// An account whose key is in memory, for peers whose identities are, too.
struct SigningAccount {
    static let team = "HANDOFFAPP"

    let authority = AccountAuthority(name: "Ada", now: Int64(Date().timeIntervalSince1970))

    /// Makes a machine whose certificate was issued some days ago.
    func makeIdentity(_ machineID: String = TestAccount.randomUUID(), daysAgo: Double = 0) throws -> Identity {
        let machine = NewMachine()
        let certificate = authority.issue(
            request: machine.certificateRequest(),
            team: Self.team,
            machineID: machineID,
            now: Int64(Date().timeIntervalSince1970 - daysAgo * 86_400)
        )
        return try machine.identity(
            account: authority.certificateDER,
            certificate: try #require(certificate),
            discoveryKey: authority.discoveryKey
        )
    }

    /// What `revoke` says, after what was said already.
    func revoke(_ peer: TestPeer, after statements: AccountStatements = AccountStatements(), at date: Date = Date())
        -> AccountStatements
    {
        var news = AccountStatements()
        let seconds = Int64(date.timeIntervalSince1970)
        news.revocations.insert(authority.revocation(of: peer.peer.id.machine, serial: [], date: seconds))
        for key in authority.nextDiscoveryKeys(after: statements, date: seconds) { news.keys.insert(key) }
        return news
    }
}

extension TestPeer {
    /// Waits until it knows that another one was revoked.
    func hasRevoked(_ other: TestPeer) async -> Bool {
        await eventually { peer.membership.isRevoked(other.peer.identity.machineID) }
    }

    /// The discovery key that it is announced with.
    var discoveryKey: [UInt8] { get async { await peer.context.identity.discoveryKey } }
}

@Suite("Revocation", .timeLimit(.minutes(2)))
struct RevocationTests {
    private let account = SigningAccount()
    private let network = LoopbackNetwork()

    private func start(_ names: String...) throws -> [TestPeer] {
        try names.map { try TestPeer(account.makeIdentity(), on: network, name: $0) }
    }

    private func stop(_ peers: [TestPeer]) async {
        for peer in peers { await peer.stop() }
    }

    @Test(
        "ends the links of a machine everywhere, with the reason at both ends, and the others get a new discovery key"
    )
    func cuts() async throws {
        let peers = try start("a", "b", "x")
        for peer in peers { #expect(await peer.isLinked(to: 2)) }
        let names = (await peers[0].peer.announcedName, await peers[1].peer.announcedName)
        await peers[0].peer.learn(account.revoke(peers[2]))
        #expect(await eventually(peers[2].peer) { $0.links.isEmpty })
        #expect(await peers[1].hasRevoked(peers[2]))
        for peer in peers[...1] {
            #expect(await peer.isLinked(to: 1))
            #expect(await peer.logs("link ended peer=\(peers[2].peer.id) reason=revoked"))
        }
        #expect(await peers[2].logs("reason=revoked"))
        #expect(await peers[2].logs("this machine was revoked"))
        let key = account.authority.discoveryKey(ofGeneration: 2)
        for peer in peers[...1] { #expect(await eventually { await peer.discoveryKey == key }) }
        #expect(await peers[2].discoveryKey == account.authority.discoveryKey)
        #expect(await eventually(peers[0].peer) { $0.announcedName != nil && $0.announcedName != names.0 })
        #expect(await eventually(peers[1].peer) { $0.announcedName != nil && $0.announcedName != names.1 })
        // It recognises nobody any more, and is refused where it is recognised.
        let isAlone = await eventually { await peers[2].peer.peers().allSatisfy { $0.account == .other } }
        #expect(isAlone)
        let isRefused = await eventually {
            await peers[0].peer.peers().contains { $0.pairing == .refused && $0.reason == .revoked }
        }
        #expect(isRefused)
        await stop(peers)
    }

    @Test("keeps a machine out that dials with what it knows")
    func dials() async throws {
        let peers = try start("a", "x")
        #expect(await peers[0].isLinked())
        let identity = peers[1].peer.identity
        await peers[0].peer.learn(account.revoke(peers[1]))
        #expect(await eventually(peers[0].peer) { $0.links.isEmpty })
        await #expect(throws: TransportError(.missingProof)) {
            _ = try await RawPeer(peers[0], as: identity).next()
        }
        // Even if it had been told the new key.
        await #expect(throws: TransportError(.certificateRevoked)) {
            let key = account.authority.discoveryKey(ofGeneration: 2)
            _ = try await RawPeer(peers[0], as: identity, discoveryKey: key).next()
        }
        await stop(peers)
    }

    @Test("is passed on by a peer that did not make it, and never with the new key to the machine itself")
    func passesOn() async throws {
        let peers = try start("middle", "x")
        #expect(await peers[0].isLinked())
        let (far, lost) = try (account.makeIdentity(), peers[1].peer.identity)
        let raw = try await RawPeer(peers[0], as: far)
        try await raw.pair()
        let spy = try await RawPeer(peers[0], as: lost)
        try await spy.pair()
        let said = account.revoke(peers[1])
        // As another machine of the account would say it.
        try await raw.send(.revocations(said.revocations.ordered, keys: said.keys.ordered))
        // It is told why, and nothing else: the new key least of all.
        guard case .revocations(let told, let keys) = try await spy.nextButPings() else { throw CancellationError() }
        #expect(told == said.revocations.ordered && keys.isEmpty)
        #expect(try await spy.nextButPings() == .bye(.refused(.revoked)))
        #expect(await peers[0].hasRevoked(peers[1]))
        let later = try await RawPeer(
            peers[0],
            as: account.makeIdentity(),
            discoveryKey: account.authority.discoveryKey(ofGeneration: 2)
        )
        guard case .hello(let hello) = try await later.next() else { throw HandoffError(.notPaired, "no hello") }
        #expect(hello.revocations == said.revocations.ordered)
        await stop(peers)
    }

    @Test("is learnt by a machine that was off, which is recognised and dialled by its old key")
    func wasOff() async throws {
        let peers = try start("a", "b", "x")
        for peer in peers { #expect(await peer.isLinked(to: 2)) }
        await peers[2].stop()
        await peers[0].peer.learn(account.revoke(peers[2]))
        #expect(await peers[1].hasRevoked(peers[2]))
        let late = try TestPeer(account.makeIdentity(), on: network, name: "late")
        #expect(await late.isLinked(to: 2))
        #expect(await late.hasRevoked(peers[2]))
        let key = account.authority.discoveryKey(ofGeneration: 2)
        #expect(await eventually { await late.discoveryKey == key })
        #expect(await eventually(late.peer) { $0.services.values.count(where: \.isOurs) == 2 })
        await stop([peers[0], peers[1], late])
    }

    @Test("is learnt by a machine that was off and that nothing but its address leads to")
    func reachesByAddress() async throws {
        let peers = try start("a", "x")
        #expect(await peers[0].isLinked())
        let late = try TestPeer(account.makeIdentity(), on: LoopbackNetwork(), name: "late")
        #expect(await eventually(late.peer) { $0.port != nil })
        await peers[0].peer.learn(account.revoke(peers[1]))
        let place = try #require(NetworkPlace("127.0.0.1:\(await late.peer.port ?? 0)"))
        #expect(await peers[0].peer.reach([place], atMost: .seconds(20)).isEmpty)
        #expect(await late.hasRevoked(peers[1]))
        let key = account.authority.discoveryKey(ofGeneration: 2)
        #expect(await eventually { await late.discoveryKey == key })
        await stop(peers + [late])
    }

    @Test("by two machines at once loses nothing, and both agree on the discovery key")
    func twice() async throws {
        let peers = try start("a", "b", "c", "x", "y")
        for peer in peers { #expect(await peer.isLinked(to: 4)) }
        async let first = peers[0].peer.learn(account.revoke(peers[3]))
        async let second = peers[1].peer.learn(account.revoke(peers[4], at: Date(timeIntervalSinceNow: -90)))
        _ = await (first, second)
        for peer in peers[...2] {
            #expect(await peer.hasRevoked(peers[3]))
            #expect(await peer.hasRevoked(peers[4]))
            #expect(await peer.isLinked(to: 2))
        }
        let isAgreed = await eventually {
            let (a, b, c) = (peers[0].peer, peers[1].peer, peers[2].peer)
            return a.membership.statements == b.membership.statements
                && b.membership.statements == c.membership.statements
        }
        #expect(isAgreed)
        let key = account.authority.discoveryKey(ofGeneration: 2)
        for peer in peers[...2] { #expect(await peer.discoveryKey == key) }
        await stop(peers)
    }

    @Test("by two machines that do not see each other is healed when they meet, though one has revoked more")
    func apart() async throws {
        let lost = try start("x", "y")
        let first = account.revoke(lost[0])
        var second = first
        second.formUnion(account.revoke(lost[1], after: first))
        await stop(lost)
        let (here, there) = (LoopbackNetwork(), network)
        let one = try TestPeer(account.makeIdentity(), on: here, name: "one")
        await one.peer.learn(first)
        let two = try TestPeer(account.makeIdentity(), on: there, name: "two")
        await two.peer.learn(second)
        let identity = one.peer.identity
        await one.stop()
        // The first one comes to the network of the second.
        let moved = try TestPeer(identity, on: there, name: "one")
        await moved.peer.learn(first)
        #expect(await moved.isLinked())
        #expect(await moved.hasRevoked(lost[1]))
        #expect(await eventually { await moved.discoveryKey == account.authority.discoveryKey(ofGeneration: 3) })
        await stop([moved, two])
    }

    @Test("that the account has not signed is refused, counted, and changes nothing")
    func forged() async throws {
        let peers = try start("a", "b")
        #expect(await peers[0].isLinked())
        let (key, raw) = (await peers[0].discoveryKey, try await RawPeer(peers[0], as: account.makeIdentity()))
        try await raw.pair()
        let forger = SigningAccount()
        var said = forger.revoke(peers[1])
        said.revocations.insert(forger.authority.revocation(of: UUID(), serial: [1], date: 0))
        try await raw.send(.revocations(said.revocations.ordered, keys: said.keys.ordered))
        // One is over, so that nobody looks at its signature; two keys and a machine are forged.
        #expect(await peers[0].logs("what the account has not signed peer="))
        #expect(await peers[0].logs("count=3"))
        #expect(peers[0].peer.membership.statements.isEmpty)
        #expect(await peers[0].discoveryKey == key)
        #expect(await peers[0].isLinked(to: 2))
        await stop(peers)
    }

    @Test("cuts streams under way, and lets no ticket be used")
    func streams() async throws {
        let peers = try start("a", "x")
        let ended = BoundedChannel<TransportError.Code>(capacity: 1)
        await peers[0].app.whenStreaming { stream in
            var buffer = [UInt8](repeating: 0, count: 16)
            do {
                while try await stream.read(into: &buffer) > 0 {}
            } catch let error as TransportError {
                _ = try? ended.offer(error.code)
            }
        }
        let activity = try peers[0].makeActivity()
        activity.supportsContinuationStreams = true
        await activity.becomeCurrent()
        let candidate = try await peers[1].candidate()
        let continued = try await peers[1].peer.continueActivity(candidate)
        let stream = try await peers[1].peer.openStream(of: continued)
        try await stream.write([1])
        #expect(await eventually { await !peers[0].peer.servedStreams.isEmpty })
        let ticket = try await peers[1].peer.ask(peers[0].peer.id) {
            .openStream(request: $0, .activity(continued.id))
        }
        guard case .stream(_, let ticket) = ticket else { throw HandoffError(.handoffFailed, "no ticket") }
        await peers[0].peer.learn(account.revoke(peers[1]))
        // Not because nothing has moved for half a minute.
        #expect(try await ended.next() == .closed)
        await #expect(throws: (any Error).self) {
            var buffer = [UInt8](repeating: 0, count: 16)
            _ = try await stream.read(into: &buffer)
        }
        for key in [account.authority.discoveryKey, account.authority.discoveryKey(ofGeneration: 2)] {
            let address = try #require(SocketAddress(numeric: "127.0.0.1", port: ticket.port))
            await #expect(throws: TransportError.self) {
                let connection = try await Dialler.dial(
                    [address],
                    applicationProtocol: "handoff-stream/1",
                    context: TLSContext(identity: peers[1].peer.identity),
                    discoveryKey: key
                )
                let late = try await connection.makeStream()
                try await late.write(StreamFrame.opening(ticket.token))
                var buffer = [UInt8](repeating: 0, count: 16)
                _ = try await late.read(into: &buffer)
            }
        }
        await stop(peers)
    }
}
