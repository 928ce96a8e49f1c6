import Foundation
import HandoffDiscovery
import HandoffModel
import HandoffSupport
import HandoffTestKit
import HandoffTransport
import Testing

@testable import Handoff

@Suite("Peers that run on this machine", .timeLimit(.minutes(1)))
struct LocalPeersTests {
    private static let failures: [PairingFailure] = [
        .otherAccount, .otherTeam, .certificateExpired, .certificateNotYetValid, .selfSigned, .revoked,
        .badCertificate, .noCertificate, .tlsVersion, .applicationProtocol, .notOfThisAccount, .ourselves,
        .otherMachine, .versionUnsupported, .protocolViolation, .timedOut, .unreachable, .unknownHost,
        .connectionLost, .busy, PairingFailure(rawValue: "of a newer version\n\u{1B}[2J"),
    ]
    private static let hostileNames = ["", "\n\r\u{0}\u{1B}[2J", "\"},{\"\\", "\u{202E}\u{2028}e\u{301}", "🧑‍🧑‍🧒‍🧒"]

    private func paired(_ name: String, latency: Duration?) throws -> PeerStatus {
        var generator = SystemRandomNumberGenerator()
        let id = PeerID(machine: UUID(), instance: InstanceID(using: &generator))
        let hello = Hello(
            versions: .current,
            instance: id.instance,
            app: "org.example.test",
            name: name,
            host: name,
            isVisitor: false,
            types: [TestPeer.type],
            service: name,
            port: 24280,
            holdsKey: true,
            revocations: [Revocation(machine: UUID(), serial: [1], date: 1) { _ in Array(repeating: 7, count: 70) }]
        )
        let version = ContentVersion(3, oldestReader: 2)
        let sample = ProximitySample(peer: id, latency: latency.map { LatencyReading($0) })
        return PeerStatus(
            id: id,
            hello: hello,
            service: name,
            place: nil,
            announcedHost: name,
            addresses: [
                try #require(SocketAddress(numeric: "10.0.0.7", port: 24280)),
                try #require(SocketAddress(numeric: "fe80::7%lo", port: 24280)),
            ],
            account: .match,
            team: .match,
            pairing: .paired,
            reason: nil,
            offers: [Offer(id: UUID(), type: TestPeer.type, title: name, hasWebpage: true, contentVersion: version)],
            nearness: RankedPeer(sample: sample, reason: .only)
        )
    }

    private func unpaired(_ failure: PairingFailure) -> PeerStatus {
        PeerStatus(
            id: nil,
            hello: nil,
            service: "h-1",
            place: nil,
            announcedHost: nil,
            addresses: [],
            account: .other,
            team: .unknown,
            pairing: failure.pairing,
            reason: failure,
            offers: [],
            nearness: nil
        )
    }

    private func roundTrip(_ statuses: [PeerStatus]?, _ identity: Identity) throws -> StatusDocument {
        let line = try JSONEncoder().encode(StatusDocument(statuses, of: identity))
        #expect(!line.contains(UInt8(ascii: "\n")))
        return try JSONDecoder().decode(StatusDocument.self, from: line)
    }

    @Test("What is told is what was seen, whatever peers call themselves and however they failed")
    func document() throws {
        let identity = try account.makeIdentity()
        for name in Self.hostileNames {
            for latency in [nil, .zero, .microseconds(1234), .seconds(7)] as [Duration?] {
                let status = try paired(name, latency: latency)
                #expect(try roundTrip([status], identity).statuses(for: identity) == [status])
            }
        }
        let refused = Self.failures.map(unpaired)
        #expect(try roundTrip(refused, identity).statuses(for: identity) == refused)
        let several = try [paired("a", latency: .milliseconds(1)), paired("b", latency: .milliseconds(9))] + refused
        let told = try #require(try roundTrip(several, identity).statuses(for: identity))
        #expect(told.map(\.id) == several.map(\.id))
        #expect(told[0].nearness?.reason == .nearerClass(own: 1, next: 3))
    }

    @Test("What another account or team was told is of no use, nor what is not certain")
    func strangers() throws {
        let (identity, other) = (try account.makeIdentity(), try account.makeIdentity())
        let document = try roundTrip([unpaired(.otherAccount)], identity)
        #expect(document.statuses(for: other)?.count == 1)
        #expect(document.statuses(for: try TestAccount().makeIdentity()) == nil)
        #expect(document.statuses(for: try account.makeIdentity(.otherTeam)) == nil)
        #expect(try roundTrip(nil, identity).statuses(for: identity) == nil)
    }

    /// Runs a test with a directory for sockets and two peers, the first of which tells what it sees.
    private func withSockets(
        _ body: (_ directory: String, _ peers: [TestPeer], _ network: LoopbackNetwork) async throws -> Void
    ) async throws {
        let directory = "\(FileManager.default.temporaryDirectory.path)/local-\(UUID().uuidString.prefix(8))"
        defer { try? FileManager.default.removeItem(atPath: directory) }
        let network = LoopbackNetwork()
        let peers = try [
            TestPeer(
                account.makeIdentity(),
                on: network,
                name: "near",
                localPeers: LocalPeers(runtimeDirectory: directory)
            ),
            TestPeer(account.makeIdentity(), on: network, name: "far"),
        ]
        let outcome: Result<Void, any Error>
        do {
            for peer in peers {
                try #require(await peer.isLinked())
                try #require(await eventually(peer.peer) { $0.services.count == 1 && $0.isSettled })
            }
            outcome = .success(try await body(directory, peers, network))
        } catch {
            outcome = .failure(error)
        }
        for peer in peers { await peer.stop() }
        try outcome.get()
    }

    /// Asks until there is an answer.
    private func ask(in directory: String, as identity: Identity) async throws -> [PeerStatus] {
        var statuses: [PeerStatus]?
        _ = await eventually {
            statuses = await LocalPeers(runtimeDirectory: directory).statuses(for: identity, within: .seconds(20))
            return statuses != nil
        }
        return try #require(statuses)
    }

    private func sockets(in directory: String) throws -> [String] {
        try Directory.names(in: directory + "/peers").filter { $0.hasSuffix(".socket") }
    }

    @Test("A running peer tells what a visitor sees, itself included")
    func sameAsVisitor() async throws {
        try await withSockets { directory, peers, network in
            let activity = try peers[0].makeActivity("Own")
            await activity.becomeCurrent()
            let identity = try account.makeIdentity()
            let told = try await ask(in: directory, as: identity)
            let visitor = try TestPeer(identity, on: network, isVisitor: true)
            try await visitor.peer.lookAround(atMost: .seconds(20))
            let seen = await visitor.peer.peers()
            await visitor.stop()
            #expect(told.count == 2)
            #expect(told.first?.id == peers[0].peer.id)
            #expect(told.first?.latency == .zero)
            #expect(told.first?.offers.map(\.title) == ["Own"])
            func facts(_ statuses: [PeerStatus]) -> Set<[String]> {
                Set(
                    statuses.map { status in
                        ["\(status.id as Any)", "\(status.hello?.host as Any)", "\(status.service as Any)"]
                            + ["\(status.announcedHost as Any)", "\(status.addresses)", "\(status.offers)"]
                    }
                )
            }
            #expect(facts(told) == facts(seen))
            #expect(Set(told.map(\.announcedHost)) == ["near.local", "far.local"])
        }
    }

    @Test("A running peer that has lost sight of one of its own leaves it to those who ask to look themselves")
    func uncertain() async throws {
        try await withSockets { directory, peers, network in
            let identity = try account.makeIdentity()
            _ = try await ask(in: directory, as: identity)
            let near = peers[0].peer
            var generator = SystemRandomNumberGenerator()
            let salt = DiscoverySalt.make(using: &generator)
            let record = await near.tags.record(versions: .current, salt: salt, key: near.identity.discoveryKey)
            let closed = LoopbackDiscovery(network: network)
            try closed.announce(ServiceAnnouncement(instanceName: "h-closed", port: 1, text: record.strings)) { $0 }
            let running = Task { try await closed.run() }
            #expect(await eventually { await near.peers().contains { $0.reason == .unreachable } })
            #expect(try await near.statusDocument().statuses(for: identity) == nil)
            running.cancel()
            #expect(try await ask(in: directory, as: identity).count == 2)
        }
    }

    @Test("The socket is its user's alone, and gone with the peer; one that nobody listens to is removed")
    func sockets() async throws {
        try await withSockets { directory, peers, _ in
            let identity = try account.makeIdentity()
            _ = try await ask(in: directory, as: identity)
            let name = try #require(try sockets(in: directory).first)
            #expect(name == "\(peers[0].peer.id).socket")
            for (path, mode) in [("/peers/\(name)", 0o600), ("/peers", 0o700)] {
                let attributes = try FileManager.default.attributesOfItem(atPath: directory + path)
                #expect(attributes[.posixPermissions] as? Int == mode)
            }
            // As a killed process leaves it.
            do { _ = try LocalSocket.listen(at: directory + "/peers/0.socket") }
            #expect(try sockets(in: directory).count == 2)
            _ = try await ask(in: directory, as: identity)
            #expect(await eventually { (try? sockets(in: directory)) == [name] })
            await peers[0].stop()
            #expect(try sockets(in: directory).isEmpty)
            #expect(await LocalPeers(runtimeDirectory: directory).statuses(for: identity) == nil)
        }
    }

    @Test("One that says nothing, or nonsense, keeps nobody from asking another, nor for ever")
    func silence() async throws {
        try await withSockets { directory, peers, _ in
            let identity = try account.makeIdentity()
            let silent = try LocalSocket.listen(at: directory + "/peers/0.socket")
            let babbling = try LocalSocket.listen(at: directory + "/peers/1.socket")
            let babble = Task { while true { try await babbling.accept().writeLine(Array("{\"rows\":7}".utf8)) } }
            #expect(try await ask(in: directory, as: identity).count == 2)
            await peers[0].stop()
            let local = LocalPeers(runtimeDirectory: directory)
            #expect(await local.statuses(for: identity, within: .milliseconds(50)) == nil)
            babble.cancel()
            withExtendedLifetime(silent) {}
        }
    }
}
