import Foundation
import Glibc
import HandoffTestKit
import NotesKit
import Testing

/// Everything that needs hosts: one after the other, since they share this machine's cores and watch time limits.
@Suite("On the network", .serialized, .timeLimit(.minutes(10)))
enum NetworkTests {}

extension NetworkTests {
    @Suite("handoff discover, alone on the network")
    struct DiscoverAloneTests {
        @Test("finds nobody, and says what to check")
        func nobody() async throws {
            try await Lab.with(hosts: 1) { lab in
                try await lab.enrol("a")
                let table = try await lab.run("a", "handoff", "discover")
                #expect(table.status == 0)
                #expect(table.output.isEmpty)
                #expect(table.errors.hasPrefix("no peers found: "))
                let document = try await lab.run("a", "handoff", "discover", "--json")
                #expect(document.status == 0)
                #expect(document.output == "{\"peers\":[]}\n")
                #expect(document.errors.isEmpty)
            }
        }

        @Test("says which daemon is missing")
        func daemons() async throws {
            try await Lab.with(hosts: 1) { lab in
                try await lab.enrol("a")
                try await lab.control("daemon", "a", "avahi", "stop")
                let withoutAvahi = try await lab.run("a", "handoff", "discover", "--json")
                #expect(withoutAvahi.status == 1)
                #expect(withoutAvahi.output.isEmpty)
                #expect(withoutAvahi.errors.contains("avahi-daemon is not running"))
                #expect(withoutAvahi.errors.split(separator: "\n").count == 1)
                try await lab.control("daemon", "a", "dbus", "kill")
                let withoutBus = try await lab.run("a", "handoff", "discover", "--json")
                #expect(withoutBus.status == 1)
                #expect(withoutBus.output.isEmpty)
                #expect(withoutBus.errors.contains("message bus cannot be reached"))
                #expect(withoutBus.errors.split(separator: "\n").count == 1)
            }
        }

        @Test("refuses an identity that is missing, or that others could read, and says what to do")
        func identities() async throws {
            try await Lab.with(hosts: 1) { lab in
                let missing = try await lab.run("a", "handoff", "discover")
                #expect(missing.status == 1)
                #expect(missing.errors.contains("this machine has no identity"))
                #expect(missing.errors.contains("handoff account create"))
                try await lab.enrol("a")
                let key = lab.identity(of: "a") + "/key.pem"
                try FileManager.default.setAttributes([.posixPermissions: 0o640], ofItemAtPath: key)
                let open = try await lab.run("a", "handoff", "discover")
                #expect(open.status == 1)
                #expect(open.errors.contains("chmod 600 '\(key)'"))
            }
        }

        @Test("does not look for no time, nor for ever")
        func timeouts() async throws {
            try await Lab.with(hosts: 1) { lab in
                for timeout in ["0", "-1", "nan", "inf", "601", "soon"] {
                    let outcome = try await lab.run("a", "handoff", "discover", "--timeout=\(timeout)")
                    #expect(outcome.status == 2)
                    #expect(outcome.errors.contains("--timeout"))
                }
            }
        }
    }
}

extension NetworkTests {
    @Suite("handoff discover, where a peer runs")
    struct DiscoverAskingTests {
        private func peers(in outcome: Outcome) throws -> [Peer] {
            try JSONDecoder().decode(Peers.self, from: Data(outcome.output.utf8)).peers
        }

        /// What both ways of looking have to agree on.
        private func facts(_ peers: [Peer]) -> [[String?]] {
            peers.map { peer in
                [peer.host, peer.id, peer.app, peer.name, peer.port.map { "\($0)" }, peer.account, peer.team]
                    + [peer.pairing, peer.reason, peer.offer?.type, peer.offer?.title]
            }
            .sorted { $0.map { $0 ?? "" }.lexicographicallyPrecedes($1.map { $0 ?? "" }) }
        }

        /// Asks until the peer that runs there answers: itself is 0 ms away, as nobody is whom a visitor finds.
        private func ask(_ host: String, in lab: Lab) async throws -> [Peer] {
            var peers: [Peer] = []
            _ = try await eventually {
                peers = try self.peers(in: await lab.run(host, "handoff", "discover", "--json"))
                return peers.count == 2 && peers.contains { $0.roundTripMilliseconds == 0 }
            }
            return peers
        }

        /// Whether it sees that another host is paired, on a busy machine not at the first look.
        private func finds(_ other: String, from host: String, in lab: Lab) async throws -> Bool {
            try await eventually {
                let outcome = try await lab.run(host, "handoff", "discover", "--json")
                return try peers(in: outcome).contains { $0.host == other && $0.pairing == "paired" }
            }
        }

        @Test("asks it, hears what looking around would tell, and looks around once it is killed")
        func asks() async throws {
            try await Lab.withPeers(hosts: 2) { hosts in
                let lab = hosts[0].lab
                for host in hosts { try await host.succeed("open", host.make("On \(host.name)")) }
                try await hosts[1].awaitOffers("On a")
                let seen = try await lab.peers(from: "b") { $0.count == 2 && $0.allSatisfy { $0.offer != nil } }
                let told = try await ask("b", in: lab)
                #expect(told.map(\.pairing) == ["paired", "paired"])
                #expect(facts(told) == facts(seen))
                #expect(told.first { $0.roundTripMilliseconds == 0 }?.host == "b")
                #expect(seen.allSatisfy { $0.roundTripMilliseconds != 0 })
                let one = try await lab.run("b", "handoff", "discover", "--host", "a")
                #expect(one.output.split(separator: "\n").count == 2)

                try await hosts[1].signalPeer(SIGKILL)
                let after = try await lab.peers(from: "b") { $0.contains { $0.host == "a" && $0.pairing == "paired" } }
                #expect(!after.contains { $0.host == "b" && $0.pairing == "paired" })
                let sockets = "\(hosts[1].home)/run/peers"
                #expect(try FileManager.default.contentsOfDirectory(atPath: sockets).count == 1)
                #expect(try await finds("a", from: "b", in: lab))
                #expect(try FileManager.default.contentsOfDirectory(atPath: sockets).isEmpty)
            }
        }

        @Test("looks around where it hangs, and where it is of another account")
        func looks() async throws {
            try await Lab.withPeers(hosts: 2) { hosts in
                let lab = hosts[0].lab
                _ = try await ask("b", in: lab)
                let pid = try #require(try await hosts[1].status()?.pid)
                kill(pid, SIGSTOP)
                defer { kill(pid, SIGCONT) }
                #expect(try await finds("a", from: "b", in: lab))
                kill(pid, SIGCONT)

                try FileManager.default.removeItem(atPath: lab.identity(of: "b"))
                try await lab.enrol("b", account: "bob")
                let other = try await lab.run("b", "handoff", "discover", "--json", "--all")
                let accounts = try peers(in: other).map(\.account)
                #expect(!accounts.isEmpty && accounts.allSatisfy { $0 == "other" }, "\(other)")
            }
        }
    }
}
