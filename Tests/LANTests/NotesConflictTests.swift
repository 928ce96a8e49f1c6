import HandoffTestKit
import NotesKit
import Testing

extension NetworkTests {
    @Suite("A note that both machines have")
    struct NotesConflictTests {
        @Test("keeps both texts when both edited it, and then becomes the same on both without a third copy")
        func conflict() async throws {
            try await Lab.withPeers(hosts: 2) { hosts in
                let (a, b) = (hosts[0], hosts[1])
                let note = try await shared("Plan", "first", by: a, with: b)
                try await a.rewrite(note, "by a")
                try await b.rewrite(note, "by b")

                let outcome = try await b.run("continue")
                #expect(outcome.status == 0)
                #expect(outcome.output == note + "\n")
                let titles = try await b.titles()
                #expect(titles.count == 2)
                let copyTitle = try #require(titles.first { $0 != "Plan" })
                let copy = try #require(try await id(of: copyTitle, on: b))
                for word in ["“Plan”", "on a", note, copy] { #expect(outcome.errors.contains(word)) }
                #expect(outcome.errors.split(separator: "\n").count == 1)
                let texts = [try await b.text(of: note), try await b.text(of: copy)]
                #expect(Set(texts) == ["by a", "by b"])
                // The same again is no second conflict.
                #expect(try await b.continueNote().outcome != .conflict)
                #expect(try await b.titles().count == 2)

                try await a.succeed("close")
                for moved in [note, copy] {
                    try await b.succeed("open", moved)
                    try await a.awaitOffers(moved == note ? "Plan" : copyTitle)
                    #expect(try await a.continueNote().outcome == (moved == note ? .updated : .added))
                    #expect(try await a.text(of: moved) == b.text(of: moved))
                }
                #expect(try await a.titles() == titles)
                try await b.succeed("close")
                try await b.succeed("close")
                try await a.succeed("open", note)
                try await b.awaitOffers("Plan")
                #expect(try await b.continueNote().outcome == .same)
                #expect(try await b.titles() == titles)
            }
        }

        @Test("names both texts of a conflict in its JSON")
        func document() async throws {
            try await Lab.withPeers(hosts: 2) { hosts in
                let (a, b) = (hosts[0], hosts[1])
                let note = try await shared("Plan", "first", by: a, with: b)
                try await a.rewrite(note, "by a")
                try await b.rewrite(note, "by b")
                let report = try await b.continueNote()
                #expect(report.outcome == .conflict)
                #expect(report.note == note)
                let copy = try #require(report.copy)
                #expect(copy != note)
                #expect(Set([try await b.text(of: note), try await b.text(of: copy)]) == ["by a", "by b"])
            }
        }

        @Test("keeps the newer text, whichever machine has it, and stays removed until it is edited again")
        func newer() async throws {
            try await Lab.withPeers(hosts: 2) { hosts in
                let (a, b) = (hosts[0], hosts[1])
                let note = try await shared("Plan", "old", by: a, with: b)
                #expect(try await b.continueNote().outcome == .same)
                try await b.rewrite(note, "new")
                #expect(try await b.continueNote().outcome == .older)
                #expect(try await b.text(of: note) == "new")

                try await b.succeed("rm", note)
                let removed = try await b.run("continue", "--json")
                #expect(removed.status == 1)
                #expect(removed.output.contains("\"outcome\":\"removed\""))
                #expect(removed.errors.contains("it stays removed"))
                #expect(try await b.text(of: note) == nil)

                try await a.rewrite(note, "newest")
                #expect(try await b.continueNote().outcome == .updated)
                #expect(try await b.text(of: note) == "newest")
            }
        }

        /// Makes a note on one host, opens it there, and continues it on the other.
        private func shared(
            _ title: String,
            _ text: String,
            by origin: NotesHost,
            with other: NotesHost
        ) async throws -> String {
            let note = try await origin.make(title, text)
            try await origin.succeed("open", note)
            try await other.awaitOffers(title)
            #expect(try await other.continueNote().outcome == .added)
            return note
        }

        private func id(of title: String, on host: NotesHost) async throws -> String? {
            let document = try await host.succeed("show", title, "--json")
            return document.firstMatch(of: /"id":"([-0-9a-f]{36})"/).map { String($0.1) }
        }
    }
}
