import HandoffDiscovery
import HandoffModel
import HandoffSupport
import HandoffTestKit
import HandoffTransport
import Testing

@testable import Handoff

@Suite("Pairing", .timeLimit(.minutes(1)))
struct PairingTests {
    @Test("Two peers announce themselves, link and show each other as paired")
    func pairs() async throws {
        try await withPeers(2) { peers, _ in
            for (peer, other) in [(peers[0], "host1"), (peers[1], "host0")] {
                #expect(await peer.isLinked())
                #expect(await eventually(peer.peer) { $0.services.count == 1 && $0.isSettled })
                let statuses = await peer.peer.peers()
                #expect(statuses.map(\.pairing) == [.paired])
                #expect(statuses.first?.hello?.host == other)
                #expect(statuses.first?.announcedHost == "\(other).local")
                #expect(statuses.first?.reason == nil)
            }
        }
    }

    @Test("A link stands over IPv6 as well")
    func pairsOverIPv6() async throws {
        let network = LoopbackNetwork()
        let loopback = [UInt8](repeating: 0, count: 15) + [1]
        let peers = try (0..<2).map { _ in
            try TestPeer(account.makeIdentity(), on: network, octets: loopback)
        }
        for peer in peers { #expect(await peer.isLinked()) }
        for peer in peers { await peer.stop() }
    }

    @Test("Peers that dial each other at once keep the same one link")
    func keepsOneLink() async throws {
        for _ in 0..<25 {
            try await withPeers(2) { peers, _ in
                let isOne = await eventually {
                    let links = [await peers[0].peer.soleLink, await peers[1].peer.soleLink]
                    guard let first = links[0], let second = links[1] else { return false }
                    return first.connection.localAddress == second.connection.remoteAddress
                        && second.connection.localAddress == first.connection.remoteAddress
                }
                #expect(isOne)
            }
        }
    }

    @Test("Eight peers that start at once all find each other")
    func pairsMany() async throws {
        try await withPeers(8) { peers, _ in
            for peer in peers { #expect(await peer.isLinked(to: 7)) }
        }
    }

    @Test("A visitor links and fetches, and is neither listed nor ranked")
    func visits() async throws {
        try await withPeers(1) { peers, network in
            let activity = try peers[0].makeActivity()
            await activity.becomeCurrent()
            let visitor = try TestPeer(account.makeIdentity(), on: network, isVisitor: true)
            let candidate = try await visitor.candidate()
            _ = try await visitor.peer.continueActivity(candidate)
            #expect(await peers[0].isTold(.wasContinued))
            #expect(await peers[0].peer.peers().isEmpty)
            #expect(await peers[0].peer.candidates().isEmpty)
            await visitor.stop()
            #expect(await eventually(peers[0].peer) { $0.links.isEmpty })
        }
    }

    @Test(
        "A bad certificate is refused with its reason at both ends",
        arguments: [
            (TestAccount.Kind.otherAccount, PairingFailure.otherAccount), (.twoTeams, .otherTeam),
            (.expired, .certificateExpired), (.notYetValid, .certificateNotYetValid), (.selfSigned, .selfSigned),
            (.issuedByMachine, .otherAccount), (.foreignKey, .badCertificate),
        ]
    )
    func refuses(_ kind: TestAccount.Kind, with failure: PairingFailure) async throws {
        let network = LoopbackNetwork()
        let good = try TestPeer(account.makeIdentity(), on: network, name: "good")
        let bad = try TestPeer(account.makeIdentity(kind), on: network, name: "bad")
        for peer in [good, bad] {
            let isRefused = await eventually { await peer.peer.peers().map(\.reason) == [failure] }
            #expect(isRefused)
            #expect(await peer.peer.peers().map(\.pairing) == [.refused])
            #expect(await peer.logs("not paired peer.address=h-"))
            #expect(await peer.logs("reason=\(failure.rawValue)"))
        }
        await good.stop()
        await bad.stop()
    }

    @Test("Another team and another account are told from the announcement and not dialled (000-16, 001-9, 004-7)")
    func leavesStrangersAlone() async throws {
        let network = LoopbackNetwork()
        let ours = try TestPeer(account.makeIdentity(), on: network)
        let team = try TestPeer(account.makeIdentity(.otherTeam), on: network, name: "team")
        #expect(await eventually(ours.peer) { $0.services.count == 1 })
        #expect(await ours.peer.peers().map(\.reason) == [.otherTeam])
        await team.stop()
        let stranger = try TestPeer(TestAccount().makeIdentity(), on: network, name: "stranger")
        #expect(await eventually(ours.peer) { $0.services.values.contains { $0.account == .other } })
        #expect(await ours.peer.peers().map(\.reason) == [.otherAccount])
        #expect(await stranger.peer.peers().map(\.reason) == [.otherAccount])
        #expect(await ours.peer.isSettled)
        await stranger.stop()
        await ours.stop()
    }

    @Test("A dialler of another team that ignores the announcement gets the reason")
    func refusesTeam() async throws {
        try await withPeers(1) { peers, _ in
            let raw = try await RawPeer(peers[0], as: account.makeIdentity(.otherTeam))
            #expect(try await raw.goodbye() == .refused(.otherTeam))
            #expect(await peers[0].logs("reason=otherTeam"))
        }
    }

    @Test("A dialler that does not know the discovery key is told nothing but that")
    func refusesWithoutProof() async throws {
        try await withPeers(1) { peers, _ in
            await #expect(throws: TransportError(.missingProof)) {
                let identity = try account.makeIdentity()
                let raw = try await RawPeer(peers[0], as: identity, discoveryKey: Crypto.randomBytes(32))
                _ = try await raw.next()
            }
            #expect(await peers[0].logs("reason=notOfThisAccount"))
        }
    }

    @Test("A machine that was removed from the account learns so")
    func hearsOfRevocation() async throws {
        try await withPeers(1) { peers, _ in
            let identity = try account.makeIdentity()
            await #expect(throws: TransportError(.certificateRevoked)) {
                let context = try TLSContext(identity: identity) { _, _ in true }
                _ = try await RawPeer(peers[0], as: identity, context: context)
            }
            #expect(await peers[0].logs("reason=revoked"))
        }
    }

    @Test("A peer without a common version is refused with the reason at both ends")
    func refusesVersion() async throws {
        try await withPeers(1) { peers, _ in
            let raw = try await RawPeer(peers[0], as: account.makeIdentity())
            await #expect(throws: PairingFailure.versionUnsupported) { try await raw.pair(versions: "7-9") }
            #expect(await peers[0].logs("reason=versionUnsupported"))
        }
    }

    @Test("Our own announcement under another name leads to no link")
    func refusesOurselves() async throws {
        try await withPeers(1) { peers, network in
            try #require(await eventually(peers[0].peer) { $0.announcedName != nil })
            let peer = peers[0].peer
            var generator = SystemRandomNumberGenerator()
            let salt = DiscoverySalt.make(using: &generator)
            let record = await peer.tags.record(versions: .current, salt: salt, key: peer.identity.discoveryKey)
            let mirror = LoopbackDiscovery(network: network)
            let port = try #require(await peer.port)
            try mirror.announce(ServiceAnnouncement(instanceName: "h-mirror", port: port, text: record.strings)) { $0 }
            let running = Task { try await mirror.run() }
            let isRefused = await eventually { await peer.peers().map(\.reason) == [.ourselves] }
            #expect(isRefused)
            running.cancel()
        }
    }

    @Test("A link whose other end went silent gives way to a new one in the same direction")
    func replacesSilentLink() async throws {
        try await withPeers(1) { peers, _ in
            let identity = try account.makeIdentity()
            var generator = SystemRandomNumberGenerator()
            let instance = InstanceID(using: &generator)
            let silent = try await RawPeer(peers[0], as: identity)
            try await silent.pair(instance: instance)
            #expect(await peers[0].isLinked())
            let newer = try await RawPeer(peers[0], as: identity)
            try await newer.pair(instance: instance)
            #expect(try await silent.goodbye() == .duplicate)
            #expect(await peers[0].isLinked())
            let link = try #require(await peers[0].peer.soleLink)
            #expect(link.connection.remoteAddress == newer.connection.localAddress)
        }
    }

    @Test("A peer that answers no ping is lost after the third")
    func losesSilentPeer() async throws {
        let clock = ManualClock()
        try await withPeers(1, clock: clock.clock) { peers, _ in
            let silent = try await RawPeer(peers[0], as: account.makeIdentity())
            try await silent.pair()
            #expect(await peers[0].isLinked())
            for sequence in 1...3 {
                #expect(try await silent.next() == .ping(sequence: sequence))
                try await clock.waitForSleep(of: .seconds(1))
                clock.advance(by: .seconds(1))
            }
            #expect(await eventually(peers[0].peer) { $0.links.isEmpty })
            #expect(await peers[0].logs("reason=timedOut"))
        }
    }
}

extension HandoffPeer {
    /// The one link there is; nil where there are more, or it is not paired.
    var soleLink: Link? { links.count == 1 ? linkedPeers().first?.link : nil }
}
