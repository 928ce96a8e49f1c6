import Foundation
import HandoffTestKit
import NotesKit
import Testing

extension NetworkTests {
    @Suite("Without multicast", .timeLimit(.minutes(5)))
    struct DirectTests {
        /// Where no name of a host is known, by the resolver neither.
        private static let nowhere = "no-such-host.invalid"

        private func stopDiscovery(_ hosts: [NotesHost]) async throws {
            for host in hosts { try await host.lab.control("daemon", host.name, "avahi", "stop") }
        }

        /// Runs a program of the system on a host.
        private func run(_ host: NotesHost, _ command: String...) async throws -> Outcome {
            try await host.lab.launch(["Tests/lan/lab", "exec", host.name] + command).outcome()
        }

        private func linkLocalAddress(of host: NotesHost) async throws -> String {
            let outcome = try await host.lab.launch(["Tests/lan/lab", "address", host.name]).outcome()
            return try #require(outcome.output.split(separator: "\n").first { $0.hasPrefix("fe80:") }.map(String.init))
        }

        @Test("a note goes on from a host that is named, and afterwards from one that is known, with Avahi dead")
        func withoutAvahi() async throws {
            try await Lab.withNotes(hosts: 2) { hosts in
                let (a, b) = (hosts[0], hosts[1])
                try await stopDiscovery(hosts)
                let unknown = try await b.run("continue")
                #expect(unknown.status == 1)
                #expect(unknown.errors.contains("avahi-daemon is not running"))

                let running = try await a.startPeer()
                let note = try await a.make("Groceries", "milk\n")
                try await a.succeed("open", note)
                let named = try await b.run("continue", "--peer", "10.77.0.1")
                #expect(named.status == 0, "\(named)")
                #expect(named.output == note + "\n")
                #expect(named.errors.contains("avahi-daemon is not running"))
                #expect(try await b.text(of: note) == "milk\n")

                try await a.rewrite(note, "milk, eggs\n")
                let known = try await b.run("continue")
                #expect(known.status == 0, "\(known)")
                #expect(try await b.text(of: note) == "milk, eggs\n")
                let sent = try await b.run("send", b.make("Bread", "rye"), "--to", "a")
                #expect(sent.status == 0, "\(sent)")

                let listing = try await b.lab.run("b", "handoff", "discover", "--json")
                #expect(listing.status == 0)
                #expect(listing.errors.contains("only known addresses are tried: "))
                let peers = try await b.lab.peers(from: "b")
                #expect(peers.map(\.host) == ["a"])
                #expect(peers.first?.addresses == ["10.77.0.1"])
                #expect(peers.first?.port == 24280)
                #expect(peers.first?.roundTripMilliseconds.map { $0 > 0 } == true)

                running.interrupt()
                #expect(try await running.outcome().status == 0)
                let gone = try await b.run("continue")
                #expect(gone.status == 1)
                #expect(gone.errors.contains("no paired peer offers anything"))
            }
        }

        @Test("running peers that were linked once find each other again, though mDNS is dropped on the way")
        func withoutMulticast() async throws {
            try await Lab.withNotes(hosts: 2) { hosts in
                let (a, b) = (hosts[0], hosts[1])
                for host in hosts {
                    for rule in [
                        "add table inet lan", "add chain inet lan in { type filter hook input priority 0 ; }",
                        "add rule inet lan in udp dport 5353 drop",
                    ] {
                        #expect(try await run(host, "/usr/sbin/nft", rule).status == 0)
                    }
                }
                var peers = [try await a.startPeer(), try await b.startPeer("--peer", "10.77.0.1")]
                for host in hosts { try await host.awaitPeers(1) }
                for peer in peers {
                    peer.interrupt()
                    #expect(try await peer.outcome().status == 0)
                }
                // Whoever was dialled knows the other one, too.
                peers = [try await b.startPeer(), try await a.startPeer()]
                for host in hosts { try await host.awaitPeers(1) }
                let note = try await b.make("Groceries", "milk\n")
                try await b.succeed("open", note)
                try await a.awaitOffers("Groceries")
                #expect(try await a.continueNote().note == note)
                #expect(try await a.text(of: note) == "milk\n")
            }
        }

        @Test("a host is asked at each of the ten ports, and each peer there is linked once")
        func ports() async throws {
            try await Lab.withNotes(hosts: 2) { hosts in
                let (a, b) = (hosts[0], hosts[1])
                try await stopDiscovery(hosts)
                try await a.startPeer("--port", "24282")
                try await a.beside("other").startPeer("--port", "24289")
                try FileManager.default.createDirectory(atPath: b.home + "/config", withIntermediateDirectories: true)
                try Data(#"{"peers": ["10.77.0.1"]}"#.utf8).write(
                    to: URL(fileURLWithPath: b.home + "/config/notes.json")
                )
                try await b.startPeer()
                try await b.awaitPeers(2)
                let peers = try await b.lab.peers(from: "b") { $0.count == 2 }
                #expect(Set(peers.compactMap(\.port)) == [24282, 24289])
                #expect(peers.allSatisfy { $0.pairing == "paired" })
            }
        }

        @Test("an IPv6 address of the link alone is dialled on its interface")
        func linkLocal() async throws {
            try await Lab.withNotes(hosts: 2) { hosts in
                let (a, b) = (hosts[0], hosts[1])
                try await stopDiscovery(hosts)
                try await a.startPeer()
                try await a.succeed("open", a.make("Groceries", "milk\n"))
                let address = try await linkLocalAddress(of: a)
                let host = address.split(separator: "%")[0]
                let outcome = try await b.run("continue", "--peer", "[\(host)%eth0]:24280")
                #expect(outcome.status == 0, "\(outcome)")
                // A running peer is asked to look there.
                try FileManager.default.removeItem(atPath: b.home + "/state")
                try await b.startPeer()
                #expect(try await b.continueNote("--peer", "\(host)%eth0").from.host == "a")
            }
        }

        @Test("a place where no peer of ours is says so, and why, with the right exit code")
        func wrong() async throws {
            try await Lab.withNotes(hosts: 2) { hosts in
                let (a, b) = (hosts[0], hosts[1])
                let lab = a.lab
                try FileManager.default.removeItem(atPath: lab.identity(of: "a"))
                try await lab.enrol("a", account: "bob")
                try await stopDiscovery(hosts)
                try await a.startPeer()
                // Where no host is, the reason depends on whether the kernel finds that out in time.
                for isRunning in [false, true] {
                    if isRunning { try await b.startPeer() }
                    for (place, reason) in [
                        ("10.77.0.1:24281", "no connection could be made"), ("10.77.0.99", ""),
                        ("10.77.0.1", "it is not of this account"), (Self.nowhere, "no host of that name is known"),
                    ] {
                        let outcome = try await b.run("continue", "--peer", place)
                        #expect(outcome.status == 1)
                        #expect(outcome.errors.contains("notes: \(place) failed: \(reason)"), "\(outcome)")
                        #expect(outcome.output.isEmpty)
                    }
                    for nonsense in ["", ":1", "10.77.0.1:99999", "[::1"] {
                        let outcome = try await b.run("continue", "--peer", nonsense)
                        #expect(outcome.status == 2)
                        #expect(outcome.errors.contains("--peer is a host"))
                    }
                }
                let table = try await lab.run("b", "handoff", "discover", "--peer", "10.77.0.1:24281")
                #expect(table.status == 0)
                #expect(table.output.contains("10.77.0.1:24281"))
                #expect(table.output.contains("no: no connection could be made"))
                let usage = try await lab.run("b", "handoff", "discover", "--peer", "a:b")
                #expect(usage.status == 2)
            }
        }
    }
}
