import Foundation
import Testing

extension NetworkTests {
    @Suite("Peers on the network")
    struct PairingTests {
        /// Starts `notes run` and waits until it is a peer.
        private func startNotes(on host: String, in lab: Lab) async throws -> RunningCommand {
            let notes = try lab.start(host, "notes", "run", "--verbose")
            try await notes.line(holding: "notes is running as")
            return notes
        }

        @Test("of one account and team are seen paired from a third host, with what they offer")
        func paired() async throws {
            try await Lab.with(hosts: 3) { lab in
                for host in ["a", "b", "c"] { try await lab.enrol(host) }
                let running = [try await startNotes(on: "a", in: lab), try await startNotes(on: "b", in: lab)]
                #expect(try await lab.run("a", "notes", "new", "Groceries").status == 0)
                #expect(try await lab.run("a", "notes", "open", "Groceries").status == 0)
                let peers = try await lab.peers(from: "c") { $0.filter { $0.pairing == "paired" }.count == 2 }
                #expect(peers.count == 2)
                for peer in peers {
                    #expect(peer.id?.count == 16)
                    #expect(peer.app == "org.handoff.notes")
                    #expect(peer.account == "match")
                    #expect(peer.team == "match")
                    #expect(peer.reason == nil)
                    #expect(peer.addresses.contains { $0.hasPrefix("10.77.0.") })
                    #expect(peer.addresses.contains { $0.hasPrefix("fe80:") && $0.hasSuffix("%eth0") })
                    #expect(peer.port.map { (24280...24289).contains($0) } == true)
                    #expect(peer.roundTripMilliseconds.map { $0 > 0 } == true)
                }
                #expect(peers.compactMap(\.offer).map(\.title) == ["Groceries"])
                for notes in running {
                    notes.interrupt()
                    #expect(try await notes.outcome().status == 0)
                }
                _ = try await lab.peers(from: "c", until: { $0.isEmpty })
            }
        }

        @Test("of another account, and of another team, are told apart, not paired, and come last (001-9)")
        func others() async throws {
            try await Lab.with(hosts: 4) { lab in
                try await lab.enrol("a")
                try await lab.enrol("b", team: "ZZZZZZZZZ9")
                try await lab.enrol("c", account: "bob")
                try await lab.enrol("d")
                for host in ["b", "c", "d"] { _ = try await startNotes(on: host, in: lab) }
                let everybody = try await lab.peers(from: "a") {
                    $0.count == 3 && $0.allSatisfy { $0.pairing != "pending" }
                }
                #expect(everybody.first?.pairing == "paired")
                #expect(everybody.first?.addresses.contains("10.77.0.4") == true)
                let peers = everybody.dropFirst()
                #expect(peers.allSatisfy { $0.pairing == "refused" && $0.id == nil && $0.offer == nil })
                // What strangers could say of themselves is not told.
                #expect(peers.allSatisfy { $0.host == nil && $0.name == nil && $0.app == nil })
                let team = try #require(peers.first { $0.addresses.contains("10.77.0.2") })
                #expect(team.account == "match")
                #expect(team.team == "other")
                #expect(team.reason == "otherTeam")
                let account = try #require(peers.first { $0.addresses.contains("10.77.0.3") })
                #expect(account.account == "other")
                #expect(account.team == "unknown")
                #expect(account.reason == "otherAccount")
                let own = try await lab.run("a", "handoff", "discover")
                #expect(!own.output.contains("another account"))
                let table = try await lab.run("a", "handoff", "discover", "--all")
                #expect(table.output.contains("no: it belongs to another account"))
                #expect(table.output.contains("no: it belongs to another team"))
            }
        }

        @Test("refuse a certificate that has expired while its peer ran, and both ends say why")
        func expired() async throws {
            try await Lab.with(hosts: 2) { lab in
                try await lab.enrol("a")
                // Long enough to start in; discover then looks until the time is over.
                let end = Date().addingTimeInterval(5)
                try await lab.enrol("b", options: ["--not-after", certificateTime(end)])
                let notes = try await startNotes(on: "b", in: lab)
                let peers = try await lab.peers(from: "a") { $0.contains { $0.pairing == "refused" } }
                #expect(peers.map(\.reason) == ["certificateExpired"])
                try await notes.line(holding: "reason=certificateExpired", onErrors: true)
            }
        }

        @Test("with a certificate that is out of its time do not start, and say what to do")
        func outOfTime() async throws {
            try await Lab.with(hosts: 2) { lab in
                let past = ["--not-before", "20200101000000Z", "--not-after", "20210101000000Z"]
                try await lab.enrol("a", options: past)
                let expired = try await lab.run("a", "notes", "run")
                #expect(expired.status == 1)
                #expect(expired.errors.contains("has expired; enrol this machine again"))
                let future = ["--not-before", "21000101000000Z", "--not-after", "21010101000000Z"]
                try await lab.enrol("b", options: future)
                let early = try await lab.run("b", "notes", "run")
                #expect(early.status == 1)
                #expect(early.errors.contains("not valid yet; check this machine's clock"))
            }
        }

        /// A time as certificates write it: 20261130120000Z.
        private func certificateTime(_ date: Date) -> String {
            date.ISO8601Format().filter { $0.isNumber || $0 == "Z" }
        }
    }
}
