import Foundation
import Glibc
import HandoffTestKit
import NotesKit
import Testing

extension NetworkTests {
    @Suite("A note that is open")
    struct NotesFlowTests {
        @Test("is continued byte for byte, after each write (000-14, 001-2, 001-3, 001-5, 001-8, 001-10)")
        func edited() async throws {
            try await Lab.withPeers(hosts: 2) { hosts in
                let (a, b) = (hosts[0], hosts[1])
                let editor = try ScriptedEditor(in: a.lab)
                let editing = try a.edit("--new", "Groceries 🛒", with: editor)
                // An editor that has written nothing yet offers its note, too.
                try await b.awaitOffers("Groceries 🛒")
                let texts = ["Brötchen 🥐\r\nKäse\n\n„Wein“ 日本酒 e\u{301} é", "two\n", "", "four\nwith no end"]
                for text in texts {
                    try editor.write(text)
                    #expect(try await eventually { try await a.text(of: "Groceries 🛒") == text })
                    let report = try await b.continueNote()
                    #expect(report.title == "Groceries 🛒")
                    #expect(report.from.host == "a")
                    #expect(report.outcome == (text == texts[0] ? .added : .updated))
                    // Swift's == would take the two accented letters for the same.
                    #expect(try await b.text(of: report.note).map { Array($0.utf8) } == Array(text.utf8))
                }
                #expect(try await b.continueNote().outcome == .same)
                editor.quit()
                let outcome = try await editing.outcome()
                #expect(outcome.status == 0)
                #expect(outcome.errors.isEmpty)
                try await b.awaitOffers()
                #expect(try await b.titles() == ["Groceries 🛒"])
            }
        }

        @Test("stays one note however often it goes to and fro")
        func toAndFro() async throws {
            try await Lab.withPeers(hosts: 2) { hosts in
                let note = try await hosts[0].make("Ball", "0")
                for round in 1...10 {
                    let (here, there) = (hosts[(round + 1) % 2], hosts[round % 2])
                    try await here.succeed("open", note)
                    try await there.awaitOffers("Ball")
                    let report = try await there.continueNote()
                    #expect(report.note == note)
                    #expect(report.outcome == (round == 1 ? .added : .updated))
                    try await here.succeed("close", note)
                    try await there.awaitOffers()
                    #expect(try await there.text(of: note) == "\(round - 1)")
                    try await there.rewrite(note, "\(round)")
                }
                for host in hosts { #expect(try await host.titles() == ["Ball"]) }
            }
        }

        @Test("is offered no more when its editor is killed, its peer is killed, or its cable is cut")
        func leases() async throws {
            try await Lab.withPeers(hosts: 2) { hosts in
                let (a, b) = (hosts[0], hosts[1])
                let note = try await a.make("Held")
                let editing = try a.edit(note, with: ScriptedEditor(in: a.lab))
                try await b.awaitOffers("Held")
                editing.kill()
                try await b.awaitOffers(within: .seconds(3))

                try await a.succeed("open", note)
                try await b.awaitOffers("Held")
                // Nothing tells of a cut cable but silence: 8 s of it, by the protocol.
                try await a.lab.control("cut", "a")
                try await b.awaitOffers(within: .seconds(15))
                try await b.awaitPeers(0)
                try await a.awaitPeers(0)
                try await a.lab.control("mend", "a")
                try await b.awaitOffers("Held", within: .seconds(30))
                try await a.awaitPeers(1)

                try await a.signalPeer(SIGKILL)
                // The connection's reset tells at once, long before any ping is missed.
                try await b.awaitOffers(within: .seconds(3))
                try await b.awaitPeers(0)
            }
        }

        @Test("is the newest one; when that is closed or removed, the one before is offered again (001-4)")
        func newest() async throws {
            try await Lab.withPeers(hosts: 2) { hosts in
                let (a, b) = (hosts[0], hosts[1])
                for title in ["One", "Two", "Three"] {
                    _ = try await a.make(title, title)
                    try await a.succeed("open", title)
                    try await b.awaitOffers(title)
                }
                try await a.succeed("close")
                try await b.awaitOffers("Two")
                try await a.succeed("open", "One")
                try await b.awaitOffers("One")
                try await a.succeed("rm", "One")
                try await b.awaitOffers("Two")
                try await a.succeed("edit", "Two", "--title", "Too")
                try await b.awaitOffers("Too")
                #expect(try await b.text(of: b.continueNote().note) == "Two")
                try await a.succeed("close", "Too")
                try await b.awaitOffers()
                for outcome in [try await a.run("close"), try await a.run("close", "Too")] {
                    #expect(outcome.status == 1)
                    #expect(outcome.errors == "notes: the note is not open\n")
                }
            }
        }

        @Test("needs a running peer, and without one says how to start it")
        func withoutPeer() async throws {
            try await Lab.withNotes(hosts: 1) { hosts in
                let a = hosts[0]
                _ = try await a.make("Alone")
                for outcome in [
                    try await a.run("open", "Alone"), try await a.run("close"), try await a.run("close", "Alone"),
                    try await a.run("activities"), try await a.run("activities", "--json"), try await a.run("status"),
                ] {
                    #expect(outcome.status == 3)
                    #expect(outcome.output.isEmpty)
                    #expect(outcome.errors == "notes: no notes peer is running here: start one with `notes run`\n")
                }
                let editor = try ScriptedEditor(in: a.lab)
                try editor.write("edited all the same")
                editor.quit()
                let edit = try await a.edit("Alone", with: editor).outcome()
                #expect(edit.status == 0)
                #expect(edit.errors == "notes: not offered: no peer is running here (start one with: notes run)\n")
                #expect(try await a.text(of: "Alone") == "edited all the same")
            }
        }
    }
}
