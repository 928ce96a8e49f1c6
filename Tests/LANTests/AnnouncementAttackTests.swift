import Foundation
import HandoffTestKit
import NotesKit
import Testing

extension NetworkTests {
    @Suite("Announcements that anybody can make up")
    struct AnnouncementAttackTests {
        @Test("lead nowhere with our tags copied, are shown as what they are, and keep nobody from being linked")
        func copied() async throws {
            try await Lab.with(hosts: 4) { lab in
                for host in ["a", "b", "d"] { try await lab.enrol(host) }
                try await lab.enrol("c", account: "bob")
                let (a, b, d) = (NotesHost("a", in: lab), NotesHost("b", in: lab), NotesHost("d", in: lab))
                try await a.startPeer()
                try await a.succeed("open", a.make("Wanted", "text"))
                let service = try await a.announcedName()
                let copy = try await lab.record(of: service, from: "c")
                // Another account's peer, which wants its own proof; a TLS server that wants none; and a port of nobody.
                _ = try await lab.startPythonPeer("c", title: "Trap", content: "")
                let identity = lab.identity(of: "c")
                let server = try lab.launch(
                    ["Tests/lan/lab", "exec", "c", "openssl", "s_server", "-www", "-tls1_3", "-alpn", "handoff/1"]
                        + ["-accept", "24400", "-cert", "\(identity)/certificate.pem", "-key", "\(identity)/key.pem"]
                )
                defer { server.kill() }
                try await server.line(holding: "ACCEPT")
                let reasons = [PythonPeer.port: "notOfThisAccount", 24400: "otherAccount", 24401: "unreachable"]
                for port in reasons.keys { try lab.publish("c", "h-trap\(port)", port: port, copy) }
                // And many of the last kind, from the same record, besides as many of no account at all.
                try await lab.control("daemon", "d", "avahi", "stop")
                try await lab.invent(["200", "--port", "24401", "--target", "10.77.0.3", "--txt"] + copy, on: "d")
                try await lab.control("daemon", "d", "avahi", "start")

                try await b.startPeer()
                try await b.awaitOffers("Wanted")
                #expect(try await b.continueNote().title == "Wanted")
                try await d.startPeer()
                for host in [a, b, d] { try await host.awaitPeers(2) }
                let peers = try await lab.peers(from: "b") { peers in
                    reasons.allSatisfy { port, reason in peers.contains { $0.port == port && $0.reason == reason } }
                        && peers.filter { $0.pairing == "paired" }.count == 3
                }
                #expect(peers.prefix(3).allSatisfy { $0.pairing == "paired" && $0.account == "match" })
                #expect(peers.dropFirst(3).allSatisfy { $0.pairing != "paired" && $0.id == nil && $0.offer == nil })
                #expect(peers.contains { $0.account == "other" })
            }
        }

        @Test("by the thousand leave a running peer as it was, and one of ours is linked meanwhile")
        func invented() async throws { try await expectCalm(under: 3_000) }

        @Test(
            "by the hundred thousand leave a running peer as it was, and one of ours is linked meanwhile",
            .enabled(if: Lab.runsLong)
        )
        func longInvented() async throws { try await expectCalm(under: 100_000) }

        private func expectCalm(under count: Int) async throws {
            try await Lab.withNotes(hosts: 4) { hosts in
                let (a, b, d, lab) = (hosts[0], hosts[1], hosts[3], hosts[0].lab)
                for host in [a, b] { try await host.startPeer() }
                for host in [a, b] { try await host.awaitPeers(1) }
                try await a.succeed("open", a.make("Wanted", "text"))
                try await b.awaitOffers("Wanted")
                let copy = try await lab.record(of: a.announcedName(), from: "b")
                let before = try await b.usage()
                try await lab.control("daemon", "c", "avahi", "stop")
                let options = ["\(count)", "--standing", "400", "--txt"] + copy
                let flood = try lab.startInventing(options, on: "c")
                // The record of a real peer that comes meanwhile is copied by nobody.
                try await d.startPeer()
                for host in [a, b, d] { try await host.awaitPeers(2) }
                #expect(try await b.continueNote().title == "Wanted")
                let limit = Duration.seconds(60 + count / 1000)
                try await flood.line(holding: "announced", within: limit)
                #expect(try await b.continueNote().title == "Wanted")
                let after = try await b.usage()
                // So many as are dialled at once, by their one address, and the links of d.
                #expect(after.descriptors <= before.descriptors + 16 + 8, "\(before) \(after)")
                #expect(after.kibibytes <= before.kibibytes + 12 * 1024, "\(before) \(after)")
            }
        }
    }
}

extension Lab {
    /// Starts to invent peers from a host whose own daemon is stopped.
    fileprivate func startInventing(_ options: [String], on host: String) throws -> RunningCommand {
        let address = "10.77.0.\(host.utf8.first.map { $0 - 0x60 } ?? 0)"
        let python = ["/usr/bin/python3", "-B", "Tests/interop/mdns_flood.py", address]
        return try launch(["Tests/lan/lab", "exec", host] + python + options)
    }

    /// Invents peers from a host whose own daemon is stopped.
    fileprivate func invent(_ options: [String], on host: String) async throws {
        let outcome = try await startInventing(options, on: host).outcome()
        guard outcome.status == 0 else { throw CommandProblem(description: "inventing on \(host): \(outcome)") }
    }

    /// The strings of a service's TXT record, as a host sees it.
    func record(of service: String, from host: String) async throws -> [String] {
        for _ in 1...20 {
            let browse = ["Tests/lan/lab", "exec", host, "avahi-browse", "-rpt", "_handoff._tcp"]
            let lines = try await launch(browse).outcome().output.split(separator: "\n")
            guard let line = lines.first(where: { $0.hasPrefix("=") && $0.contains(service) }) else { continue }
            return line.matches(of: /"([^"]*)"/).map { String($0.1) }
        }
        throw CommandProblem(description: "\(service) is not seen from \(host)")
    }
}
