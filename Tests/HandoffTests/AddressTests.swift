import Foundation
import HandoffDiscovery
import HandoffModel
import HandoffSupport
import HandoffTestKit
import HandoffTransport
import Testing

@testable import Handoff

@Suite("Peers at addresses", .timeLimit(.minutes(1)))
struct AddressTests {
    /// Runs a peer that nobody is told of, and gives its port.
    private func withHidden(
        _ identity: Identity,
        port: UInt16 = 0,
        _ body: (_ peer: TestPeer, _ port: UInt16) async throws -> Void
    ) async throws {
        let peer = try TestPeer(identity, on: LoopbackNetwork(), name: "hidden", port: port)
        let outcome: Result<Void, any Error>
        do {
            try #require(await eventually(peer.peer) { $0.port != nil })
            outcome = .success(try await body(peer, #require(await peer.peer.port)))
        } catch {
            outcome = .failure(error)
        }
        await peer.stop()
        try outcome.get()
    }

    private func place(_ port: UInt16, host: String = "127.0.0.1") throws -> NetworkPlace {
        try #require(NetworkPlace("\(host):\(port)"))
    }

    @Test("A place that is named leads to its peer, which is listed as any other, without a service")
    func named() async throws {
        try await withHidden(account.makeIdentity()) { hidden, port in
            let network = LoopbackNetwork()
            let peer = try TestPeer(account.makeIdentity(), on: network, places: [place(port)])
            #expect(await peer.isLinked())
            #expect(await hidden.isLinked())
            let statuses = await peer.peer.peers()
            #expect(statuses.map(\.hello?.host) == ["hidden"])
            #expect(statuses.first?.service == nil && statuses.first?.place == nil)
            #expect(statuses.first?.addresses.map(\.description) == ["127.0.0.1:\(port)"])
            // The acceptor knows where the other one listens, too.
            let listening = try #require(await peer.peer.port)
            #expect(await hidden.peer.peers().first?.addresses.map(\.port) == [listening])
            await peer.stop()
        }
    }

    @Test("Many ways to one peer lead to one link", arguments: 1...10)
    func oneLink(_: Int) async throws {
        try await withHidden(account.makeIdentity()) { hidden, port in
            let places = try ["127.0.0.1", "[::1]", "localhost", "127.0.0.2", "127.0.0.3"].map {
                try place(port, host: $0)
            }
            let peer = try TestPeer(account.makeIdentity(), on: LoopbackNetwork(), places: places)
            let areLinked = await eventually(peer.peer) { peer in
                peer.unreached(places).isEmpty && peer.links.count == 1 && peer.linkedPeers().count == 1
            }
            #expect(areLinked)
            #expect(await hidden.isLinked())
            // No second one was ever paired, at either end.
            for end in [peer, hidden] { #expect(end.log.count { $0.hasPrefix("info: paired") } == 1) }
            await peer.stop()
        }
    }

    @Test("Two peers that name each other keep one link")
    func mutual() async throws {
        try await withHidden(account.makeIdentity()) { hidden, port in
            let peer = try TestPeer(account.makeIdentity(), on: LoopbackNetwork(), places: [place(port)])
            #expect(await peer.isLinked())
            let back = try place(#require(await peer.peer.port))
            #expect(await hidden.peer.reach([back], atMost: .seconds(20)).isEmpty)
            #expect(await hidden.isLinked())
            #expect(await peer.isLinked())
            await peer.stop()
        }
    }

    @Test("A place where nobody of ours is gives the reason, once, however many ports were tried")
    func nobody() async throws {
        try await withHidden(TestAccount().makeIdentity()) { _, port in
            let nowhere = try #require(NetworkPlace("nobody.invalid"))
            let places = [try place(port), try place(1), nowhere]
            let peer = try TestPeer(account.makeIdentity(), on: LoopbackNetwork(), places: places)
            let reasons: [PairingFailure] = [.notOfThisAccount, .unreachable, .unknownHost]
            let areTold = await eventually { await peer.peer.peers().map(\.reason) == reasons }
            #expect(areTold)
            let statuses = await peer.peer.peers()
            #expect(statuses.map(\.place) == places)
            #expect(statuses.allSatisfy { $0.hello == nil && $0.account == .unknown && $0.addresses.isEmpty })
            #expect(statuses.map(\.pairing) == [.refused, .unreachable, .unreachable])
            let asked = try place(2)
            #expect(await peer.peer.reach([asked], atMost: .seconds(20)).map(\.failure) == [.unreachable])
            #expect(await peer.peer.schedule.state(of: .place(asked)) == nil)
            await peer.stop()
        }
    }

    @Test("An announced peer whose port is closed is unreachable, and says so")
    func closedPort() async throws {
        try await withPeers(1) { peers, network in
            let peer = peers[0].peer
            var generator = SystemRandomNumberGenerator()
            let salt = DiscoverySalt.make(using: &generator)
            let record = await peer.tags.record(versions: .current, salt: salt, key: peer.identity.discoveryKey)
            let other = LoopbackDiscovery(network: network)
            try other.announce(ServiceAnnouncement(instanceName: "h-closed", port: 1, text: record.strings)) { $0 }
            let running = Task { try await other.run() }
            #expect(await eventually { await peer.peers().map(\.reason) == [.unreachable] })
            #expect(await peer.peers().map(\.pairing) == [.unreachable])
            running.cancel()
        }
    }

    @Test("A peer that was linked once is found again at its last address, and another machine there is no harm")
    func known() async throws {
        let directory = try temporaryDirectory()
        defer { try? FileManager.default.removeItem(atPath: directory) }
        let identity = try account.makeIdentity()
        func makePeer(places: [NetworkPlace] = []) throws -> TestPeer {
            let file = KnownPeersFile(directory: directory + "/state", identity: identity)
            return try TestPeer(identity, on: LoopbackNetwork(), places: places, knownPeers: file)
        }
        let path = "\(directory)/state/peers-\(identity.teamID).json"
        func text() -> String? {
            (try? Data(contentsOf: URL(filePath: path))).map { String(decoding: $0, as: UTF8.self) }
        }
        func machine(_ identity: Identity) -> String { identity.machineID.uppercased() }

        let first = try account.makeIdentity()
        var usedPort: UInt16 = 0
        try await withHidden(first) { _, port in
            usedPort = port
            let peer = try makePeer(places: [place(port)])
            #expect(await peer.isLinked())
            #expect(await eventually { text()?.contains(machine(first)) == true })
            await peer.stop()
            let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
            #expect(mode == 0o600)
            #expect(try FileManager.default.contentsOfDirectory(atPath: directory + "/state").count == 1)

            let again = try makePeer()
            #expect(await again.isLinked())
            #expect(await again.peer.isSettled)
            await again.stop()
        }
        let second = try account.makeIdentity()
        try await withHidden(second, port: usedPort) { _, _ in
            let peer = try makePeer()
            #expect(await peer.isLinked())
            #expect(
                await eventually {
                    text()?.contains(machine(second)) == true && text()?.contains(machine(first)) == false
                }
            )
            await peer.stop()
        }
        // What another account has left, or a damaged file, is of no use, and of no harm.
        let stranger = try TestAccount().makeIdentity()
        #expect(
            await KnownPeersFile(directory: directory + "/state", identity: stranger).read(at: Date()) == KnownPeers()
        )
        try Data("[".utf8).write(to: URL(filePath: path))
        #expect(
            await KnownPeersFile(directory: directory + "/state", identity: identity).read(at: Date()) == KnownPeers()
        )
    }

    private func temporaryDirectory() throws -> String {
        let path = FileManager.default.temporaryDirectory.path + "/handoff-known-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        return path
    }
}
