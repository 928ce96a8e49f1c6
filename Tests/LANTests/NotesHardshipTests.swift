import Foundation
import Glibc
import HandoffSupport
import HandoffTestKit
import NotesKit
import Testing

extension NetworkTests {
    @Suite("A handoff under hardship")
    struct NotesHardshipTests {
        @Test("works at once while a stranger fills the port with garbage, silence and handshakes without a proof")
        func strangers() async throws {
            try await Lab.withPeers(hosts: 3) { hosts in
                let (a, b) = (hosts[0], hosts[1])
                try await a.succeed("open", a.make("Wanted", "text"))
                try await b.awaitOffers("Wanted")
                let pid = try #require(try await a.status()?.pid)
                let port = try #require(try await a.status()?.port)
                // 100 silent connections, 20 of noise, 5 of TLS without the proof, again and again.
                let script = """
                    for round in 1 2 3 4 5; do
                        for n in $(seq 100); do exec {silent}<>/dev/tcp/10.77.0.1/\(port); done
                        for n in $(seq 20); do head -c 2000 /dev/urandom >/dev/tcp/10.77.0.1/\(port); done
                        openssl s_client -connect 10.77.0.1:\(port) -servername x </dev/null
                        echo "round $round"
                    done
                    read -r forever
                    """
                let stranger = try a.lab.launch(["Tests/lan/lab", "exec", "c", "bash", "-c", script + " <> <(:)"])
                defer { stranger.kill() }
                try await stranger.line(holding: "round 1")
                for _ in 1...5 { #expect(try await b.continueNote().title == "Wanted") }
                try await stranger.line(holding: "round 5")
                // A visitor makes a new connection to the beset port.
                let visitor = try await b.beside("visitor").run("continue", "--verbose")
                #expect(visitor.status == 0, "\(visitor)")
                #expect(try await a.status()?.pid == pid)
                #expect(try await a.status()?.peers.count == 2)
            }
        }

        @Test("works over link-local IPv6 alone")
        func ipv6() async throws {
            try await Lab.withNotes(hosts: 2) { hosts in
                for host in hosts {
                    let flush = try host.lab.launch(
                        ["Tests/lan/lab", "exec", host.name, "ip", "-4", "address", "flush", "dev", "eth0"]
                    )
                    #expect(try await flush.outcome().status == 0)
                }
                for host in hosts { try await host.startPeer() }
                for host in hosts { try await host.awaitPeers(1) }
                let (a, b) = (hosts[0], hosts[1])
                try await a.succeed("open", a.make("Six", "::"))
                try await b.awaitOffers("Six")
                #expect(try await b.text(of: b.continueNote().note) == "::")
                let peers = try await a.lab.peers(from: "b") { $0.contains { $0.host == "a" } }
                #expect(peers.allSatisfy { $0.addresses.allSatisfy { $0.hasPrefix("fe80:") } })
            }
        }

        @Test("goes on after a host came to another network, where it is announced by another name and another salt")
        func movesOn() async throws {
            try await Lab.withPeers(hosts: 2) { hosts in
                let (a, b, lab) = (hosts[0], hosts[1], hosts[0].lab)
                let before = try await a.announcedName()
                let record = try await lab.record(of: before, from: "b")
                for (name, address) in [("a", "10.88.0.1/24"), ("b", "10.88.0.2/24")] {
                    let add = try lab.launch(
                        ["Tests/lan/lab", "exec", name, "ip", "address", "add", address, "dev", "eth0"]
                    )
                    #expect(try await add.outcome().status == 0)
                }
                #expect(try await eventually { try await a.announcedName() != before })
                let after = try await a.announcedName()
                let values = try await lab.record(of: after, from: "b")
                // Nothing but the constants is the same.
                #expect(Set(values).intersection(record) == ["txtvers=1", "v=1"])
                try await b.awaitPeers(1)
                try await a.succeed("open", a.make("Note", "text"))
                try await b.awaitOffers("Note")
                #expect(try await b.continueNote().outcome == .added)
            }
        }

        @Test(
            "a thousand times back and forth keeps every byte, and memory and descriptors as they were",
            .enabled(if: Lab.runsLong)
        )
        func longThousand() async throws {
            try await Lab.withPeers(hosts: 2) { hosts in
                let beginning = String(repeating: "x", count: 20_000) + "e\u{301}\r\n"
                let note = try #require(UUID(uuidString: try await hosts[0].make("Again", beginning)))
                var text = beginning
                /// To the other host and back, with an edit here and there on the way.
                func handOff(_ count: Int) async throws {
                    for number in 0..<count {
                        let (from, to) = (hosts[number % 2], hosts[1 - number % 2])
                        if number % 100 == 50 {
                            text = beginning + "\(number) of \(from.name)"
                            try await from.rewrite(note.uuidString, text)
                            try await to.awaitOffers()  // the editor's is over
                        }
                        try await from.expectDone(.open(note: note))
                        try await to.awaitOffers("Again")
                        let reply = try await to.ask(.continueActivity(from: nil, ContinueOptions()))
                        guard case .continued(let report) = reply else {
                            throw CommandProblem(description: "continue: \(String(describing: reply))")
                        }
                        #expect([.added, .updated, .same].contains(report.outcome))
                        try await from.expectDone(.close(note: note))
                    }
                    for host in hosts {
                        #expect(try await host.text(of: note.uuidString).map { Array($0.utf8) } == Array(text.utf8))
                        #expect(try await host.titles() == ["Again"])
                    }
                }
                try await handOff(200)
                let before = try await hosts.asyncMap { try await $0.usage() }
                try await handOff(1000)
                let after = try await hosts.asyncMap { try await $0.usage() }
                for (before, after) in zip(before, after) {
                    #expect(after.descriptors <= before.descriptors + 2)
                    #expect(after.kibibytes <= before.kibibytes + 4096)
                }
            }
        }
    }
}

extension Array {
    /// `map` with a function that waits.
    func asyncMap<Value>(_ transform: (Element) async throws -> Value) async rethrows -> [Value] {
        var values: [Value] = []
        for element in self { values.append(try await transform(element)) }
        return values
    }
}

extension NotesHost {
    fileprivate func expectDone(_ request: ControlRequest) async throws {
        let reply = try await ask(request)
        guard reply == .done else { throw CommandProblem(description: "\(request): \(String(describing: reply))") }
    }
}
