import Foundation
import Glibc
import HandoffSupport
import HandoffTestKit
import NotesKit
import Testing

extension NetworkTests {
    @Suite("notes continue")
    struct NotesContinueTests {
        @Test("works without a running peer, as a visitor whom nobody lists and who takes nobody's link (000-14)")
        func visitor() async throws {
            try await Lab.withNotes(hosts: 3) { hosts in
                let (a, b, c) = (hosts[0], hosts[1], hosts[2])
                // Of the same machine as the peer that runs on b, as a second user's session might be.
                let visitor = try b.beside("visitor")
                for host in [a, b] { try await host.startPeer() }
                for host in [a, b] { try await host.awaitPeers(1) }
                let before = try await a.status()?.peers.map(\.id)
                let note = try await a.make("Visited", "text")
                try await a.succeed("open", note)
                try await b.awaitOffers("Visited")

                let seen = LockedBox<Set<[String]>>([])
                let watching = Task {
                    while !Task.isCancelled {
                        if let ids = try await a.status()?.peers.map(\.id) {
                            seen.withLock { _ = $0.insert(ids) }
                        }
                        try await MonotonicClock.system.sleep(for: .milliseconds(5))
                    }
                }
                async let discovered = c.lab.peers(from: "c")
                for _ in 1...3 { #expect(try await visitor.continueNote().note == note) }
                #expect(try await visitor.text(of: note) == "text")
                #expect(try await discovered.count == 2)
                watching.cancel()
                _ = await watching.result
                #expect(seen.withLock { $0 } == [before])
                #expect(try await b.offers()?.map(\.title) == ["Visited"])
                #expect(try await b.run("continue").status == 0)
            }
        }

        @Test("takes the note from the peer that is named, and says who there is when the name fits none or two")
        func from() async throws {
            try await Lab.withNotes(hosts: 3) { hosts in
                let (a, b, c) = (hosts[0], hosts[1], hosts[2])
                let second = try b.beside("second")
                for host in [a, b, second, c] { try await host.startPeer() }
                // The two on one host are linked, too, though they are of one machine.
                for host in [a, b, second, c] { try await host.awaitPeers(3) }
                let nothing = try await c.run("continue")
                #expect(nothing.status == 1)
                #expect(nothing.output.isEmpty)
                #expect(
                    nothing.errors == "notes: no paired peer offers anything that could be continued here\n"
                )

                for (host, title) in [(a, "of a"), (b, "of b"), (second, "of second")] {
                    try await host.succeed("open", host.make(title, title))
                }
                try await c.awaitOffers("of a", "of b", "of second")
                #expect(try await c.continueNote("--from", "a").title == "of a")
                let ids = [try #require(try await b.status()?.id), try #require(try await second.status()?.id)]
                #expect(try await c.continueNote("--from", ids[0]).title == "of b")
                #expect(try await c.continueNote("--from", String(ids[1].prefix(12))).title == "of second")
                try await a.succeed("close")
                try await c.awaitOffers("of b", "of second")
                let idle = try await c.run("continue", "--from", "a")
                #expect(idle.status == 1)
                #expect(idle.errors.split(separator: "\n").count == 1)

                let both = try await c.run("continue", "--from", "b")
                #expect(both.status == 1)
                #expect(both.errors.contains("fits several peers"))
                for id in ids { #expect(both.errors.contains(id)) }
                let nobody = try await c.run("continue", "--from", "kitchen")
                #expect(nobody.status == 1)
                #expect(nobody.errors.contains("no paired peer is called \"kitchen\""))
                for id in ids { #expect(nobody.errors.contains("\(id) notes on b")) }
                #expect(nobody.errors.contains("notes on a"))
            }
        }

        @Test("goes round a peer that has stopped answering")
        func stopped() async throws {
            try await Lab.withPeers(hosts: 3) { hosts in
                let (a, b, c) = (hosts[0], hosts[1], hosts[2])
                for host in [a, b] { try await host.succeed("open", host.make("of \(host.name)", "text")) }
                try await c.awaitOffers("of a", "of b")
                let pid = try #require(try await a.status()?.pid)
                kill(pid, SIGSTOP)
                defer { kill(pid, SIGCONT) }
                // Whether it was chosen first or not, the other's note comes; and nobody hangs who is named.
                #expect(try await c.continueNote().title == "of b")
                let named = try await c.run("continue", "--from", "a")
                #expect(named.status == 1)
                #expect(named.errors.split(separator: "\n").count == 1)
                try await c.awaitOffers("of b")
                kill(pid, SIGCONT)
                try await c.awaitOffers("of a", "of b")
                #expect(try await c.continueNote("--from", "a").title == "of a")
            }
        }
    }
}
