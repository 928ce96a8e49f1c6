import Glibc
import HandoffTestKit
import NotesKit
import Testing

extension NetworkTests {
    @Suite("notes run, and the daemons it needs")
    struct NotesDaemonTests {
        @Test("keeps its links while avahi-daemon is dead, and is announced again after each of its restarts")
        func restarts() async throws {
            try await Lab.withPeers(hosts: 2) { hosts in
                let (a, b) = (hosts[0], hosts[1])
                try await a.succeed("open", a.make("Steady", "text"))
                try await b.awaitOffers("Steady")
                let before = try #require(try await a.status())
                var daemons = Array(repeating: ["avahi"], count: 5)
                daemons.append(["avahi", "dbus"])
                for killed in daemons {
                    for daemon in killed { try await a.lab.control("daemon", "a", daemon, "kill") }
                    #expect(try await eventually { try await a.status()?.service == nil })
                    #expect(try await b.continueNote().title == "Steady")
                    for daemon in killed.reversed() { try await a.lab.control("daemon", "a", daemon, "start") }
                    #expect(try await eventually { try await a.status()?.service != nil })
                    // `discover` has no link to begin with, and finds it by its announcement.
                    _ = try await a.lab.peers(from: "b") { $0.contains { $0.host == "a" } }
                }
                let after = try #require(try await a.status())
                #expect(after.pid == before.pid)
                #expect(after.peers.map(\.id) == before.peers.map(\.id))
                #expect(after.problem == nil)
                #expect(try await b.continueNote().outcome == .same)
            }
        }

        @Test("waits for a daemon that starts after it, and says once what it waits for")
        func waiting() async throws {
            try await Lab.withNotes(hosts: 2) { hosts in
                let (a, b) = (hosts[0], hosts[1])
                try await b.startPeer()
                for (missing, hint) in [
                    (["avahi"], "avahi-daemon is not running"), (["avahi", "dbus"], "message bus cannot be reached"),
                ] {
                    for daemon in missing { try await a.lab.control("daemon", "a", daemon, "kill") }
                    let peer = try a.start("run")
                    try await peer.line(holding: "notes is running as")
                    try await peer.line(holding: hint, onErrors: true)
                    #expect(try await a.status()?.problem?.contains(hint) == true)
                    for daemon in missing.reversed() { try await a.lab.control("daemon", "a", daemon, "start") }
                    try await a.awaitPeers(1)
                    #expect(try await eventually { try await a.status()?.service != nil })
                    #expect(try await a.status()?.problem == nil)
                    peer.interrupt()
                    let outcome = try await peer.outcome()
                    #expect(outcome.status == 0)
                    // Each that is missing is named once, the bus before the daemon that comes after it.
                    let lines = outcome.errors.split(separator: "\n")
                    #expect(lines.count <= missing.count && Set(lines).count == lines.count, "\(outcome.errors)")
                    try await b.awaitPeers(0)
                }
            }
        }
    }
}
