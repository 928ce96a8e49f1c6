import Foundation
import HandoffTestKit
import NotesKit
import Testing

extension NetworkTests {
    @Suite("A peer whose port is beset")
    struct DoorAttackTests {
        @Test("by a thousand silent connections, lies, drips and hellos serves its own all along")
        func beset() async throws {
            try await Lab.withPeers(hosts: 3) { hosts in try await expectService(hosts) }
        }

        @Test("serves its own all along with 64 descriptors in all")
        func besetWithFewDescriptors() async throws {
            try await Lab.withNotes(hosts: 3) { hosts in
                let (a, lab) = (hosts[0], hosts[0].lab)
                let run = "ulimit -n 64; exec '\(Lab.products)/notes' run"
                let peer = try lab.launch(["Tests/lan/lab", "exec", a.name, "bash", "-c", run])
                try await peer.line(holding: "notes is running as")
                for host in hosts.dropFirst() { try await host.startPeer() }
                for host in hosts { try await host.awaitPeers(2) }
                try await expectService(hosts)
            }
        }

        /// Besets a from c, and expects b to be served over its link, over new links, and after all.
        private func expectService(_ hosts: [NotesHost]) async throws {
            let (a, b, lab) = (hosts[0], hosts[1], hosts[0].lab)
            let note = try await a.make("Wanted", "text")
            try await a.succeed("open", note)
            try await b.awaitOffers("Wanted")
            let report = try #require(try await a.status())
            let port = try #require(report.port)
            let before = try await a.usage()
            let python = ["/usr/bin/python3", "-B", "Tests/interop/hostile_door.py", "10.77.0.1", "\(port)"]
            let attack = try lab.launch(["Tests/lan/lab", "exec", "c"] + python)
            defer { attack.kill() }
            try await attack.line(holding: "\"round\": 2")
            var times: [Duration] = []
            for round in 1...5 {
                try await a.rewrite(note, "text \(round)")
                try await a.succeed("open", note)
                try await b.awaitOffers("Wanted")
                let start = ContinuousClock.now
                #expect(try await b.continueNote().title == "Wanted")
                times.append(.now - start)
            }
            print("while the port is beset, continue takes", times.max() ?? .zero, "at most")
            let visitor = try await b.beside("visitor").run("continue")
            #expect(visitor.status == 0, "\(visitor)")
            let after = try await a.usage()
            // The strangers at the door, those that are just shown out, and the visitor.
            #expect(after.descriptors <= before.descriptors + 64 + 16 + 8, "\(before) \(after)")
            #expect(after.kibibytes <= before.kibibytes + 16 * 1024, "\(before) \(after)")
            #expect(try await a.status()?.pid == report.pid)
            for host in [a, b] { #expect(try await host.status()?.peers.count == 2) }
        }
    }
}
