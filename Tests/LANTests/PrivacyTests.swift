import Foundation
import HandoffModel
import HandoffSupport
import HandoffTestKit
import NotesKit
import Testing

extension NetworkTests {
    @Suite("What a stranger on the network sees")
    struct PrivacyTests {
        @Test("shares nothing but constants before and after a restart")
        func restarted() async throws {
            try await Lab.withNotes(hosts: 2) { hosts in
                let (a, lab) = (hosts[0], hosts[0].lab)
                let peer = try await a.startPeer()
                let before = try await a.announcedName()
                let record = try await lab.record(of: before, from: "b")
                peer.interrupt()
                #expect(try await peer.outcome().status == 0)
                try await a.startPeer()
                let after = try await a.announcedName()
                #expect(after != before)
                #expect(try await Set(lab.record(of: after, from: "b")).intersection(record) == ["txtvers=1", "v=1"])
            }
        }

        @Test("tells nothing of whole handoffs, from the invitation to a stream, in any packet and any encoding")
        func captured() async throws {
            try await Lab.with(hosts: 2) { lab in
                let capture = try await Capture(on: "a", in: lab)
                defer { capture.end() }
                let account = "Ada Lovelace"
                #expect(try await lab.run("a", "handoff", "account", "create", "--name", account).status == 0)
                let invitation = try await AccountTests.Invitation(on: "a", in: lab)
                let join = try lab.converse("b", "handoff", "account", "join")
                join.type(invitation.code)
                #expect(try await join.outcome().status == 0)
                #expect(try await invitation.command.outcome().status == 0)

                let (a, b) = (NotesHost("a", in: lab), NotesHost("b", in: lab))
                for host in [a, b] { try await host.startPeer() }
                for host in [a, b] { try await host.awaitPeers(1) }
                let (title, content) = ("Surprise for Grace", "the key is under the mat")
                let note = try await a.make(title, content)
                try await a.succeed("open", note)
                try await b.awaitOffers(title)
                #expect(try await b.continueNote().title == title)
                try await a.succeed("close")
                // Too much for a message.
                let large = Array(repeating: content, count: 4_000).joined(separator: " ")
                try await b.succeed("send", b.make("Long surprise", large), "--to", "a")

                let machines = try await ["a", "b"].asyncMap { try await machine(of: $0, in: lab) }
                let traces = Traces(
                    texts: [
                        title, content, "Long surprise", account, "org.handoff.notes", machines[0].team,
                        invitation.code, invitation.code.filter { $0 != "-" },
                    ] + machines.map(\.id),
                    bytes: machines.map(\.bytes) + [
                        machines[0].accountHash, try lab.discoveryKey(of: "a"),
                        try InvitationCode(typed: invitation.code).bytes,
                    ]
                )
                // The last packet may be on its way into the file.
                #expect(try await eventually { try capture.packets().joined().count > large.utf8.count })
                let packets = try capture.packets()
                #expect(traces.found(in: Array(packets.joined())) == [])
                // What is known to be plain is found, so that the rest would be.
                let plain = Traces(texts: ["_handoff", "_handoff-enroll", "txtvers=1", "handoff-stream/1"])
                #expect(plain.found(in: Array(packets.joined())).count == 4)
                let leak = "note=" + BaseEncoding.base64URL(Array("x\(title)".utf8))
                _ = try lab.launch([
                    "Tests/lan/lab", "exec", "a", "avahi-publish", "-s", "leak", "_leak._tcp", "9", leak,
                ])
                #expect(
                    try await eventually {
                        try traces.found(in: Array(capture.packets().joined())) == ["\(title) in base64"]
                    }
                )
            }
        }

        private struct Machine {
            let team: String
            let id: String
            let bytes: [UInt8]
            let accountHash: [UInt8]
        }

        private func machine(of host: String, in lab: Lab) async throws -> Machine {
            struct Shown: Decodable {
                struct Machine: Decodable {
                    let team: String
                    let machine: String
                }
                let hash: String
                let machines: [Machine]
            }
            let outcome = try await lab.run(host, "handoff", "account", "show", "--json")
            let shown = try JSONDecoder().decode(Shown.self, from: Data(outcome.output.utf8))
            let machine = try #require(shown.machines.first)
            return Machine(
                team: machine.team,
                id: machine.machine,
                bytes: try #require(BaseEncoding.decodeHexadecimal(machine.machine.filter { $0 != "-" })),
                accountHash: try #require(BaseEncoding.decodeHexadecimal(shown.hash))
            )
        }
    }
}
