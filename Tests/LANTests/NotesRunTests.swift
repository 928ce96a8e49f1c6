import Foundation
import Glibc
import HandoffSupport
import HandoffTestKit
import NotesKit
import Testing

extension NetworkTests {
    @Suite("notes run, from its start to its end")
    struct NotesRunTests {
        @Test("withdraws its service and ends well on SIGTERM and SIGINT, and starts again at once, even when killed")
        func ends() async throws {
            try await Lab.withPeers(hosts: 2) { hosts in
                let (a, b) = (hosts[0], hosts[1])
                let port = try await a.status()?.port
                for signal in [SIGTERM, SIGINT, SIGKILL] {
                    try await a.signalPeer(signal)
                    try await b.awaitPeers(0, within: .seconds(3))
                    #expect(try await eventually { try await a.run("status").status == 3 })
                    if signal != SIGKILL {
                        _ = try await a.lab.peers(from: "b") { $0.map(\.host) == ["b"] }
                    }
                    let peer = try await a.startPeer()
                    // What is left of the old connections does not keep it from its port.
                    #expect(try await a.status()?.port == port)
                    try await a.awaitPeers(1)
                    try await b.awaitPeers(1)
                    guard signal == SIGKILL else { continue }
                    peer.interrupt()
                    #expect(try await peer.outcome().status == 0)
                }
            }
        }

        @Test("makes exactly one link with a peer that starts at the same time")
        func simultaneous() async throws {
            try await Lab.withNotes(hosts: 2) { hosts in
                for _ in 1...10 {
                    let peers = try hosts.map { try $0.start("run", "--verbose") }
                    for peer in peers { try await peer.line(holding: "notes is running as") }
                    for peer in peers { try await peer.line(holding: "announced", onErrors: true) }
                    for host in hosts { try await host.awaitPeers(1) }
                    // While one of two links is being ended, an end may have none for a moment.
                    let isMutual = try await eventually {
                        let (one, other) = (try await hosts[0].status(), try await hosts[1].status())
                        return one?.peers.map(\.id) == other.map { [$0.id] }
                            && other?.peers.map(\.id) == one.map { [$0.id] }
                    }
                    #expect(isMutual)
                    for peer in peers { peer.interrupt() }
                    for peer in peers {
                        let outcome = try await peer.outcome()
                        #expect(outcome.status == 0)
                        #expect(!outcome.errors.contains("protocolViolation"), "\(outcome.errors)")
                    }
                }
            }
        }

        @Test("refuses to start a second time, on a port that is in use, and without a usable identity or store")
        func refuses() async throws {
            try await Lab.withNotes(hosts: 1) { hosts in
                let a = hosts[0]
                let second = try a.beside("second")
                let first = try await a.startPeer()
                let port = try #require(try await a.status()?.port)
                func expectRefusal(_ host: NotesHost, _ options: [String] = [], _ words: String...) async throws {
                    let outcome = try await host.run(["run"] + options)
                    #expect(outcome.status == 1)
                    #expect(outcome.output.isEmpty)
                    #expect(outcome.errors.split(separator: "\n").count == 1, "\(outcome.errors)")
                    for word in words { #expect(outcome.errors.contains(word), "\(outcome.errors)") }
                }
                try await expectRefusal(a, [], "running here already")
                try await expectRefusal(second, ["--port", "\(port)"], "\(port)")
                #expect(try await a.status()?.peers.isEmpty == true)

                let identity = second.home + "/config/identity"
                chmod(identity + "/key.pem", 0o644)
                try await expectRefusal(second, [], "chmod 600")
                try FileManager.default.removeItem(atPath: identity)
                try await expectRefusal(second, [], "no identity")
                let database = second.home + "/data/notes.db"
                try Data("this is no database, but a text that somebody put here".utf8)
                    .write(to: URL(fileURLWithPath: database))
                try await expectRefusal(second, [], "notes.db")
                #expect(try String(contentsOfFile: database, encoding: .utf8).hasPrefix("this is no database"))

                first.interrupt()
                #expect(try await first.outcome().status == 0)
            }
        }
    }
}
