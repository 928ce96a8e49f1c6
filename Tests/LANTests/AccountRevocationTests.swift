import Foundation
import HandoffSupport
import Testing

extension NetworkTests {
    @Suite("The later life of an account on the network")
    struct AccountRevocationTests {
        /// What `handoff account peers --json` prints.
        private struct Members: Decodable {
            struct Machine: Decodable {
                private enum CodingKeys: String, CodingKey {
                    case machine, revoked
                    case isThisMachine = "this_machine"
                    case holdsKey = "holds_key"
                }

                let machine: String
                let revoked: String?
                let isThisMachine: Bool
                let holdsKey: Bool?
            }

            let machines: [Machine]
        }

        /// What `handoff account show --json` prints.
        private struct Account: Decodable {
            struct Machine: Decodable {
                private enum CodingKeys: String, CodingKey {
                    case machine, serial
                    case notAfter = "not_after"
                }

                let machine: String
                let serial: String
                let notAfter: String
            }

            let machines: [Machine]
        }

        private func decode<Document: Decodable>(_ outcome: Outcome) throws -> Document {
            try #require(outcome.status == 0, "\(outcome)")
            return try JSONDecoder().decode(Document.self, from: Data(outcome.output.utf8))
        }

        private func members(on host: String, in lab: Lab) async throws -> [Members.Machine] {
            let members: Members = try decode(try await lab.run(host, "handoff", "account", "peers", "--json"))
            return members.machines
        }

        private func machine(of host: String, in lab: Lab) async throws -> Account.Machine {
            let account: Account = try decode(try await lab.run(host, "handoff", "account", "show", "--json"))
            return try #require(account.machines.first)
        }

        /// Makes a host a machine of the account on `a`, by an invitation.
        private func join(_ host: String, in lab: Lab) async throws {
            let invitation = try lab.start("a", "handoff", "account", "invite")
            let code = try await invitation.wholeLine(holding: "-")
            try await invitation.line(holding: "within five minutes", onErrors: true)
            let joining = try lab.converse(host, "handoff", "account", "join", "--peer", "10.77.0.1")
            joining.type(code)
            let joined = try await joining.outcome()
            #expect(joined.status == 0, "\(joined)")
            #expect(try await invitation.outcome().status == 0)
        }

        private func startNotes(on host: String, in lab: Lab) async throws -> RunningCommand {
            let notes = try lab.start(host, "notes", "run", "--verbose")
            try await notes.line(holding: "notes is running as")
            return notes
        }

        @Test("ends a lost machine's links at once, shows it as revoked, and reaches a host that was down")
        func revoked() async throws {
            try await Lab.with(hosts: 4) { lab in
                #expect(try await lab.run("a", "handoff", "account", "create", "--name", "Ada").status == 0)
                for host in ["b", "c", "d"] { try await join(host, in: lab) }
                var running: [String: RunningCommand] = [:]
                for host in ["a", "b", "c"] { running[host] = try await startNotes(on: host, in: lab) }
                for notes in running.values { try await notes.line(holding: "paired peer=", onErrors: true) }
                _ = try await lab.peers(from: "d") { $0.filter { $0.pairing == "paired" }.count == 3 }
                let known = try await members(on: "a", in: lab)
                #expect(known.count == 4 && known.first?.isThisMachine == true && known.first?.holdsKey == true)
                let lost = try await machine(of: "c", in: lab).machine
                #expect(try await lab.run("a", "notes", "new", "Groceries").status == 0)
                #expect(try await lab.run("a", "notes", "open", "Groceries").status == 0)
                try await lab.awaitOffers(of: "org.handoff.notes.note", from: "c")

                // Not where the key is not, not without being asked, and not this machine by mistake.
                let elsewhere = try await lab.run("b", "handoff", "account", "revoke", lost, "--yes")
                #expect(elsewhere.status == 1 && elsewhere.errors.contains("does not hold the account's key"))
                #expect(try await lab.run("a", "handoff", "account", "revoke", lost).status == 2)
                let own = try await machine(of: "a", in: lab).machine
                let itself = try await lab.run("a", "handoff", "account", "revoke", own, "--yes")
                #expect(itself.status == 1 && itself.errors.contains("that is this machine"))

                let done = try await lab.run("a", "handoff", "account", "revoke", String(lost.prefix(8)), "--yes")
                #expect(done.status == 0, "\(done)")
                for notes in running.values {
                    try await notes.line(holding: "reason=revoked", onErrors: true)
                }
                for host in ["a", "b"] {
                    try await running[host]?.line(holding: "a machine was revoked peer.machine=\(lost)", onErrors: true)
                    let shown = try await members(on: host, in: lab)
                    #expect(shown.last?.machine == lost && shown.last?.revoked != nil)
                }
                let seen = try await lab.peers(from: "b") { peers in
                    peers.filter { $0.pairing == "paired" }.count == 2 && peers.contains { $0.reason == "revoked" }
                }
                #expect(!seen.contains { $0.pairing == "paired" && $0.addresses.contains("10.77.0.3") })
                // The lost one recognises nobody, and gets nothing.
                _ = try await lab.peers(from: "c") { peers in
                    peers.filter { $0.account == "other" }.count == 2
                        && peers.allSatisfy { !$0.addresses.contains("10.77.0.1") || $0.pairing != "paired" }
                }
                let fetched = try await lab.run("c", "notes", "continue")
                #expect(fetched.status == 1, "\(fetched)")

                let late = try await startNotes(on: "d", in: lab)
                try await late.line(holding: "a machine was revoked peer.machine=\(lost)", onErrors: true)
                _ = try await lab.peers(from: "d") { $0.filter { $0.pairing == "paired" }.count == 3 }
                let learnt = try await members(on: "d", in: lab)
                #expect(learnt.last?.machine == lost && learnt.last?.revoked != nil)
                // A new machine is invited with the new key.
                let again = try await lab.run("a", "handoff", "account", "revoke", lost, "--yes")
                #expect(again.status == 0 && again.output.contains("was revoked already"))
                running["c"]?.interrupt()
                #expect(try await running["c"]?.outcome().status == 0)
                try await join("c", in: lab)
                #expect(try await machine(of: "c", in: lab).machine != lost)
                _ = try await lab.peers(from: "c") { $0.filter { $0.pairing == "paired" }.count == 3 }
            }
        }

        @Test("renews a certificate that ends in 30 days over a link to the machine with the account's key")
        func renewed() async throws {
            try await Lab.with(hosts: 2) { lab in
                try await lab.enrol("a")
                try FileManager.default.copyItem(
                    atPath: "\(lab.directory)/account-ada",
                    toPath: lab.identity(of: "a").replacingOccurrences(of: "/identity", with: "/account")
                )
                let soon = Date().addingTimeInterval(30 * 86_400).ISO8601Format().filter { $0.isNumber || $0 == "Z" }
                try await lab.enrol("b", options: ["--not-after", soon])
                let before = try await machine(of: "b", in: lab)
                let warned = try await lab.run("b", "handoff", "discover")
                #expect(warned.errors.contains("this machine's certificate ends on"))
                let peers = (try await startNotes(on: "a", in: lab), try await startNotes(on: "b", in: lab))
                try await peers.1.line(holding: "the certificate was renewed", onErrors: true)
                let after = try await machine(of: "b", in: lab)
                #expect(after.machine == before.machine)
                #expect(after.serial != before.serial)
                #expect(after.notAfter > before.notAfter)
                let quiet = try await lab.run("b", "handoff", "discover")
                #expect(!quiet.errors.contains("certificate ends"))
                _ = try await lab.peers(from: "b") { $0.filter { $0.pairing == "paired" }.count == 2 }
                // Without a restart the new one is used where the other end links anew.
                peers.0.interrupt()
                #expect(try await peers.0.outcome().status == 0)
                let again = try await startNotes(on: "a", in: lab)
                try await again.line(holding: "paired peer=", onErrors: true)
            }
        }
    }
}
