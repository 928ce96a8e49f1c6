import Foundation
import HandoffTestKit
import NotesKit
import Testing

extension NetworkTests {
    @Suite("notes send")
    struct NotesSendTests {
        private static let text = "Milk 🥛\r\nEggs\n\ne\u{301}"

        @Test("puts the note on the other machine before it returns, with or without a peer running here")
        func sends() async throws {
            try await Lab.withNotes(hosts: 3) { hosts in
                let (a, b, c) = (hosts[0], hosts[1], hosts[2])
                for host in [a, b] { try await host.startPeer() }
                for host in [a, b] { try await host.awaitPeers(1) }
                let note = try await a.make("Groceries", Self.text)
                #expect(try await a.run("send", note, "--to", "b").status == 0)
                #expect(try await b.text(of: note).map { Array($0.utf8) } == Array(Self.text.utf8))
                #expect(try await b.offers()?.isEmpty == true, "it is sent, not offered")
                // From a host without a peer, as a visitor.
                let other = try await c.make("Ideas", "x")
                let sent = try await c.run("send", "Ideas", "--to", "a", "--json")
                #expect(sent.status == 0, "\(sent)")
                let report = try JSONDecoder().decode(SendReport.self, from: Data(sent.output.utf8))
                #expect(report.note == other && report.to.host == "a")
                #expect(try await a.text(of: other) == "x")
            }
        }

        @Test("loses no text where both machines edited it, and names the peers there are where the name fits none")
        func conflict() async throws {
            try await Lab.withPeers(hosts: 2) { hosts in
                let (a, b) = (hosts[0], hosts[1])
                let note = try await a.make("Groceries", "first")
                try await a.succeed("send", note, "--to", "b")
                try await a.rewrite(note, "of a")
                try await b.rewrite(note, "of b")
                try await a.succeed("send", note, "--to", "b")
                #expect(try await b.titles() == ["Groceries", "Groceries (conflict copy)"])
                let texts = [
                    try await b.text(of: "Groceries"), try await b.text(of: "Groceries (conflict copy)"),
                ]
                #expect(Set(texts) == ["of a", "of b"])
                let lost = try await a.run("send", note, "--to", "kitchen")
                #expect(lost.status == 1)
                #expect(lost.errors.contains("no paired peer is called \"kitchen\"; there is: "))
                #expect(try await a.run("send", note).status == 2)
                #expect(try await a.run("send", "Nothing", "--to", "b").status == 1)
            }
        }

        @Test(
            "is declined where the configuration says so, and a configuration that says nonsense keeps the peer from running"
        )
        func policy() async throws {
            try await Lab.withNotes(hosts: 3) { hosts in
                let (a, b, c) = (hosts[0], hosts[1], hosts[2])
                try Data(#"{"accept": ["a"]}"#.utf8).write(to: URL(filePath: "\(b.home)/config/notes.json"))
                for host in hosts { try await host.startPeer() }
                for host in hosts { try await host.awaitPeers(2) }
                try await a.succeed("send", a.make("Of a", "x"), "--to", "b")
                let refused = try await c.run("send", c.make("Of c", "x"), "--to", "b")
                #expect(refused.status == 1)
                #expect(refused.errors.contains("“Of c” was not taken by b: b is configured not to take"))
                #expect(try await b.titles() == ["Of a"])
                // It is for what is sent alone: b continues from c as from any peer.
                try await c.succeed("open", "Of c")
                try await b.awaitOffers("Of c")
                #expect(try await b.continueNote().outcome == .added)

                try Data(#"{"acept": "never"}"#.utf8).write(to: URL(filePath: "\(b.home)/config/notes.json"))
                try await b.signalPeer(SIGTERM)
                #expect(try await eventually { try await b.status() == nil })
                let misspelt = try await b.run("run")
                #expect(misspelt.status == 1)
                #expect(misspelt.errors.contains("notes.json has the unknown key “acept”"))
            }
        }
    }

    @Suite("A note that was continued")
    struct NotesFollowTests {
        @Test("follows its origin, if that is wanted, until it is worked on here, without losing a text")
        func follows() async throws {
            try await Lab.withPeers(hosts: 2) { hosts in
                let (a, b) = (hosts[0], hosts[1])
                let note = try await a.make("Groceries", "first")
                try await a.succeed("open", note)
                try await b.awaitOffers("Groceries")
                #expect(try await b.continueNote("--follow").outcome == .added)
                for text in ["second", "third"] {
                    try await a.rewrite(note, text)
                    #expect(try await eventually(within: .seconds(10)) { try await b.text(of: note) == text })
                }
                try await b.rewrite(note, "of b")
                try await a.rewrite(note, "of a")
                // It was edited here: it takes a continuation to bring the two together, which ends following.
                #expect(try await b.text(of: note) == "of b")
                #expect(try await b.continueNote().outcome == .conflict)
                #expect(try await b.titles() == ["Groceries", "Groceries (conflict copy)"])
            }
        }

        @Test("stays as it is where following was not asked for, and a visitor cannot follow")
        func staysAsItIs() async throws {
            try await Lab.withPeers(hosts: 2) { hosts in
                let (a, b) = (hosts[0], hosts[1])
                let note = try await a.make("Groceries", "first")
                try await a.succeed("open", note)
                try await b.awaitOffers("Groceries")
                #expect(try await b.continueNote().outcome == .added)
                try await a.rewrite(note, "second")
                // The update is over the link before this offer, which comes after it.
                try await a.succeed("edit", note, "--title", "Shopping")
                try await b.awaitOffers("Shopping")
                #expect(try await b.text(of: note) == "first")
                try await b.signalPeer(SIGTERM)
                #expect(try await eventually { try await b.status() == nil })
                let visitor = try await b.run("continue", "--follow")
                #expect(visitor.status == 3)
            }
        }

        @Test("is not opened a second time where an editor has it open")
        func reusesEditor() async throws {
            try await Lab.withPeers(hosts: 2) { hosts in
                let (a, b) = (hosts[0], hosts[1])
                let note = try await a.make("Groceries", "text")
                try await a.succeed("open", note)
                try await b.awaitOffers("Groceries")
                #expect(try await b.continueNote().isOpenInEditor == false)
                let editor = try ScriptedEditor(in: b.lab)
                let editing = try b.edit(note, with: editor)
                try await a.awaitOffers("Groceries")
                let again = try await b.run("continue", "--edit")
                #expect(again.status == 0, "\(again)")
                #expect(again.errors.contains("open in an editor here already"))
                editor.quit()
                #expect(try await editing.outcome().status == 0)
            }
        }
    }
}
