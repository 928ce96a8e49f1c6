import Foundation
import Glibc
import Handoff
import HandoffSupport
import HandoffTestKit
import NotesKit
import Testing

extension NetworkTests {
    @Suite("The nearest peer", .timeLimit(.minutes(6)))
    struct ProximityTests {
        private static let runsLong = ProcessInfo.processInfo.environment["HANDOFF_LONG_TESTS"] == "1"

        /// What makes a host one at 1 ms: this machine's own part of a round trip is most of it.
        private static let nearby = "0.3"

        /// Five hosts that offer a note to a sixth, f, at 1, 5, 20 and 80 ms; the last, e, is the nearest, and hung.
        private func withDistances(_ test: (Lab, [NotesHost]) async throws -> Void) async throws {
            try await Lab.withPeers(hosts: 6) { hosts in
                let lab = hosts[0].lab
                for (host, distance) in zip(["a", "b", "c", "d"], [Self.nearby, "5", "20", "80"]) {
                    try await lab.control("distance", host, distance)
                }
                for host in hosts.dropLast() { try await host.succeed("open", host.make("of \(host.name)", "text")) }
                try await hosts[5].awaitOffers("of a", "of b", "of c", "of d", "of e")
                let pid = try #require(try await hosts[4].status()?.pid)
                kill(pid, SIGSTOP)
                let outcome: Result<Void, any Error>
                do { outcome = .success(try await test(lab, hosts)) } catch { outcome = .failure(error) }
                kill(pid, SIGCONT)
                try outcome.get()
            }
        }

        @Test("is taken each time of peers at 1, 5, 20 and 80 ms and one that hangs, and followed when two change")
        func distances() async throws {
            try await withDistances { lab, hosts in
                let f = hosts[5]
                // The one that hangs is never the one; which of the others is nearest is known after a few bursts.
                #expect(
                    try await eventually(within: .seconds(20)) { try await f.continueNote().from.host == "a" }
                )
                for _ in 1...(Self.runsLong ? 50 : 5) {
                    let report = try await f.continueNote()
                    #expect(report.title == "of a", "\(report.reason ?? "-")")
                }
                let told = try await f.run("continue", "--verbose")
                #expect(told.errors.contains("chose a: class "))

                try await lab.control("distance", "a", "80")
                try await lab.control("distance", "d", Self.nearby)
                _ = try await eventually(within: .seconds(20)) { try await f.continueNote().from.host == "d" }
                for _ in 1...(Self.runsLong ? 50 : 5) {
                    let report = try await f.continueNote()
                    #expect(report.title == "of d", "\(report.reason ?? "-")")
                }
            }
        }

        @Test("is the one that is heard best by radio, and another one once that is; discover says what the radios do")
        func heard() async throws {
            try await Lab.withNotes(hosts: 3) { hosts in
                let (a, lab) = (hosts[0], hosts[0].lab)
                let bluetooth = try await FakeBluetooth.start(in: lab)
                try Data(#"{"radio": true}"#.utf8).write(to: URL(fileURLWithPath: a.home + "/config/notes.json"))
                for host in hosts { try await host.startPeer() }
                try await a.awaitPeers(2)
                for host in hosts.dropFirst() { try await host.succeed("open", host.make("of \(host.name)", "text")) }
                // Only now there is a choice to make.
                try await bluetooth.service.line(holding: "listening 1")

                /// What is heard of b and c from now on, until a note of the right one is taken.
                func isTaken(from name: String, hearing levels: [(host: String, rssi: Int)]) async throws -> Bool {
                    try await eventually(within: .seconds(40)) {
                        for (index, level) in levels.enumerated() {
                            let tag = try lab.radioTag(of: level.host)
                            try await bluetooth.hear(tag, rssi: level.rssi, from: "AA:BB:CC:DD:EE:0\(index)")
                        }
                        return try await a.continueNote().from.host == name
                    }
                }
                #expect(try await isTaken(from: "c", hearing: [("b", -80), ("c", -45)]))
                let told = try await a.run("continue", "--verbose")
                #expect(told.errors.contains("dBm"), "\(told)")
                #expect(try await isTaken(from: "b", hearing: [("b", -45), ("c", -80)]))

                let explained = try await lab.run("a", "handoff", "discover", "--explain")
                #expect(explained.output.contains("Bluetooth: Bluetooth is in use"), "\(explained)")
                #expect(explained.output.contains("Wi-Fi: "))
            }
        }

        @Test("that dies, or whose cable is pulled, is passed over within seconds")
        func gone() async throws {
            try await Lab.withPeers(hosts: 4) { hosts in
                let lab = hosts[0].lab
                for (host, distance) in zip(["b", "c"], ["5", "20"]) {
                    try await lab.control("distance", host, distance)
                }
                for host in hosts.dropLast() { try await host.succeed("open", host.make("of \(host.name)", "text")) }
                let d = hosts[3]
                try await d.awaitOffers("of a", "of b", "of c")
                // What was pinged before the hosts were moved counts until the first bursts are over.
                let isMeasured = try await eventually {
                    let times = try await d.offers()?.compactMap(\.peer?.rttMilliseconds).sorted() ?? []
                    return times.count == 3 && times[1] > 4 && times[2] > 16
                }
                #expect(isMeasured)
                #expect(try await eventually(within: .seconds(20)) { try await d.continueNote().from.host == "a" })
                kill(try #require(try await hosts[0].status()?.pid), SIGKILL)
                let next = try await d.continueNote()
                #expect(next.from.host == "b", "\(next)")
                try await lab.control("cut", "b")
                #expect(try await eventually(within: .seconds(8)) { try await d.continueNote().from.host == "c" })
            }
        }

        @Test("is not waited for by discover where it hangs: when the time is over it is pending")
        func pending() async throws {
            try await Lab.withPeers(hosts: 3) { hosts in
                let pid = try #require(try await hosts[1].status()?.pid)
                kill(pid, SIGSTOP)
                defer { kill(pid, SIGCONT) }
                let outcome = try await hosts[2].lab.run("c", "handoff", "discover", "--json", "--timeout=1.5")
                #expect(outcome.output.contains("\"pairing\":\"pending\""))
                #expect(outcome.output.contains("\"host\":\"a\""))
            }
        }

        @Test("is first in discover, which explains, filters and watches")
        func discover() async throws {
            try await Lab.withPeers(hosts: 3) { hosts in
                let lab = hosts[0].lab
                try await lab.control("distance", "a", "20")
                _ = try await lab.peers(from: "c") { $0.count == 3 && $0.allSatisfy { $0.pairing == "paired" } }
                let table = try await lab.run("c", "handoff", "discover", "--explain")
                #expect(table.output.contains("3. notes on a: class 3, "))
                #expect(table.output.contains("of class 3"))
                #expect(!table.output.contains("\u{1B}"))
                let one = try await lab.run("c", "handoff", "discover", "--host", "b", "--app", "notes")
                #expect(one.output.split(separator: "\n").count == 2)

                let watching = try lab.start("c", "handoff", "discover", "--watch", "--json")
                for _ in 1...3 { _ = try await watching.wholeLine(holding: "\"event\":\"appeared\"") }
                try await hosts[1].succeed("open", hosts[1].make("Seen", "text"))
                let changed = try await watching.wholeLine(holding: "\"title\":\"Seen\"")
                #expect(changed.hasPrefix("{\"event\":\"changed\""))
                try await hosts[1].signalPeer(SIGTERM)
                let gone = try await watching.wholeLine(holding: "\"event\":\"disappeared\"")
                #expect(gone.contains("\"10.77.0.2\""))
                watching.interrupt()
                #expect(try await watching.outcome().status == 0)
            }
        }
    }
}

extension Lab {
    /// What a host's machine is known by over the radio now, in hexadecimal.
    fileprivate func radioTag(of host: String) throws -> String {
        let identity = try Identity.load(directory: identity(of: host))
        let machine = try #require(UUID(uuidString: identity.machineID))
        let tags = RadioTags { Crypto.hmacSHA256(key: $0, message: $1) }
        let now = Int64(Date().timeIntervalSince1970)
        return BaseEncoding.hexadecimal(tags.tag(of: machine, at: now, key: identity.discoveryKey))
    }
}
