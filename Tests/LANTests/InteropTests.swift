import Foundation
import NotesKit
import Testing

extension NetworkTests {
    /// The second implementation is Tests/interop, written from docs/protocol.md alone.
    @Suite("A second implementation of the protocol")
    struct InteropTests {
        private static let title = "Brötchen 🥐"
        private static let content = "„Käse“\r\n\n日本酒 e\u{301} é\u{202E}\t\u{1F9C0} — no end"

        @Test("continues a note of ours byte for byte, and is a peer like any other meanwhile")
        func continuesOurs() async throws {
            try await Lab.withNotes(hosts: 2) { hosts in
                let (a, lab) = (hosts[0], hosts[0].lab)
                let peer = try await a.startPeer()
                let note = try await a.make(Self.title, Self.content)
                // It links first and waits for an offer.
                let python = try lab.startPython("b", "handoff_peer.py", "continue", then: "10.77.0.1", "24280")
                try await a.awaitPeers(1)
                #expect(try await a.status()?.peers.map(\.name) == ["python"])
                try await a.succeed("open", note)
                let outcome = try await python.outcome()
                #expect(outcome.errors.isEmpty)
                let activity = try JSONDecoder().decode(NoteActivity.self, from: Data(outcome.output.utf8))
                #expect(activity.type == "org.handoff.notes.note")
                #expect(activity.userInfo.id.lowercased() == note)
                // Swift's == would take the two accented letters for the same.
                #expect(Array(activity.title.utf8) == Array(Self.title.utf8))
                #expect(Array(activity.userInfo.title.utf8) == Array(Self.title.utf8))
                #expect(Array(activity.userInfo.content.utf8) == Array(Self.content.utf8))
                try await peer.line(holding: "reason=done", onErrors: true)
                try await a.awaitPeers(0)
            }
        }

        @Test("is found through Avahi, and its note is continued here byte for byte")
        func isContinued() async throws {
            try await Lab.withNotes(hosts: 3) { hosts in
                let (a, lab) = (hosts[0], hosts[0].lab)
                try await a.startPeer()
                let python = try await lab.startPythonPeer("b", title: Self.title, content: Self.content)
                let (service, txt) = (python.announcement.service, python.announcement.txt)
                try lab.publish("b", service, port: PythonPeer.port, txt)
                try await Self.expectContinued(on: a, from: python)
                let peers = try await lab.peers(from: "c") { $0.filter { $0.pairing == "paired" }.count == 2 }
                let peer = try #require(peers.first { $0.name == "python" })
                #expect(peer.account == "match" && peer.team == "match" && peer.app == "org.handoff.notes")
                #expect(peer.offer?.type == "org.handoff.notes.note")
                #expect(peer.offer?.title == Self.title)
                #expect(peer.addresses.contains("10.77.0.2") && peer.port == PythonPeer.port)
            }
        }

        @Test("takes what we send, or declines it, and sends to us; both ends say what came of it")
        func sends() async throws {
            try await Lab.withNotes(hosts: 3) { hosts in
                let (a, lab) = (hosts[0], hosts[0].lab)
                let peer = try await a.startPeer()
                let taker = try await lab.startPythonPeer("b", title: "", content: "")
                let decliner = try await lab.startPythonPeer("c", title: "", content: "", options: ["--decline"])
                for (host, python) in [("b", taker), ("c", decliner)] {
                    let announcement = python.announcement
                    try lab.publish(host, announcement.service, port: PythonPeer.port, announcement.txt)
                }
                try await a.awaitPeers(2)
                let note = try await a.make(Self.title, Self.content)
                try await a.succeed("send", note, "--to", "b")
                let line = try await taker.command.wholeLine(holding: "\"event\": \"received\"")
                let received = try JSONDecoder().decode(ReceivedNote.self, from: Data(line.utf8)).activity
                #expect(Array(received.userInfo.content.utf8) == Array(Self.content.utf8))
                let declined = try await a.run("send", note, "--to", "c")
                #expect(declined.status == 1)
                #expect(declined.errors.contains("This peer takes nothing."))

                let python = try lab.startPython(
                    "b",
                    "handoff_peer.py",
                    "send",
                    then: ["10.77.0.1", "24280", "--title", "Sent", "--content", Self.content]
                )
                let outcome = try await python.outcome()
                #expect(outcome.output.contains("\"kind\": \"continued\""), "\(outcome)")
                try await peer.line(holding: "received: continued “Sent” from b")
                #expect(try await a.text(of: "Sent").map { Array($0.utf8) } == Array(Self.content.utf8))
            }
        }

        @Test("follows a note of ours as it is edited on")
        func follows() async throws {
            try await Lab.withNotes(hosts: 2) { hosts in
                let (a, lab) = (hosts[0], hosts[0].lab)
                try await a.startPeer()
                let note = try await a.make(Self.title, "first")
                try await a.succeed("open", note)
                let python = try lab.startPython(
                    "b",
                    "handoff_peer.py",
                    "continue",
                    then: ["10.77.0.1", "24280", "--updates", "2"]
                )
                try await python.line(holding: "first")
                try await a.rewrite(note, "second")
                try await python.line(holding: "second")
                try await a.rewrite(note, "third")
                try await python.line(holding: "third")
                #expect(try await python.outcome().status == 0)
            }
        }

        @Test("that offers what no app here takes is told apart by its reason, and its web page can be opened")
        func webpage() async throws {
            try await Lab.withNotes(hosts: 3) { hosts in
                let (a, b, lab) = (hosts[0], hosts[1], hosts[0].lab)
                try await b.startPeer()
                let page = "https://example.org/recipe?id=7"
                let options = ["--type", "org.example.recipe", "--webpage", page]
                let python = try await lab.startPythonPeer("c", title: "Recipe", content: "", options: options)
                try lab.publish("c", python.announcement.service, port: PythonPeer.port, python.announcement.txt)
                try await b.awaitPeers(1)
                let list = try await b.run("activities")
                #expect(list.output.isEmpty)
                #expect(list.errors.contains("“Recipe” on c cannot go on here: notes does not continue"))
                let plain = try await b.run("continue")
                #expect(plain.status == 1)
                #expect(plain.errors.contains("org.example.recipe"))
                let printed = try await b.run("continue", "--print-url")
                #expect(printed.output == page + "\n", "\(printed)")
                try await python.command.line(holding: "\"event\": \"continued\"")
                // A note is never passed over for a page: what an app takes it goes on with.
                try await a.startPeer()
                try await a.succeed("open", a.make("Note", "text"))
                try await b.awaitPeers(2)
                #expect(try await b.run("continue", "--print-url", "--from", "a").output.count == 37)
            }
        }

        @Test("of a later version that speaks ours, too, is continued; of one that does not is refused by that reason")
        func versions() async throws {
            try await Lab.withNotes(hosts: 3) { hosts in
                let (a, lab) = (hosts[0], hosts[0].lab)
                try await a.startPeer()
                let both = try await lab.startPythonPeer(
                    "b",
                    title: "1-2",
                    content: "",
                    options: ["--versions", "1-2"]
                )
                let later = try await lab.startPythonPeer("c", title: "2", content: "", options: ["--versions", "2"])
                for (host, python, spoken) in [("b", both, "1-2"), ("c", later, "2")] {
                    let announcement = try await lab.makeAnnouncement(host, spoken)
                    let service = python.announcement.service
                    try lab.publish(host, service, port: PythonPeer.port, announcement.txt)
                }
                try await a.awaitOffers("1-2")
                #expect(try await a.continueNote().title == "1-2")
                let peers = try await lab.peers(from: "a") { $0.contains { $0.pairing == "refused" } }
                #expect(peers.first { $0.pairing == "refused" }?.reason == "versionUnsupported")
            }
        }

        @Test("that fails to give its note makes continue go on to the next peer, and name both")
        func fallsThrough() async throws {
            try await Lab.withNotes(hosts: 3) { hosts in
                let (c, lab) = (hosts[2], hosts[0].lab)
                try await c.startPeer()
                // Which of them is nearest depends on times that are measured: whoever is asked first fails.
                let asked = "\(lab.directory)/asked"
                for host in ["a", "b"] {
                    let options = ["--moody", asked]
                    let python = try await lab.startPythonPeer(
                        host,
                        title: "Of \(host)",
                        content: "x",
                        options: options
                    )
                    try lab.publish(host, python.announcement.service, port: PythonPeer.port, python.announcement.txt)
                }
                try await c.awaitOffers("Of a", "Of b")
                let report = try await c.continueNote()
                let failed = try #require(report.failures.first)
                #expect(report.failures.count == 1 && failed.message == "Not now.")
                #expect(Set([report.from.host, failed.host]) == ["a", "b"])
                #expect(report.title == "Of \(report.from.host)")
                // A peer that is named is the only one that is asked.
                try FileManager.default.removeItem(atPath: asked)
                let named = try await c.run("continue", "--from", "a")
                #expect(named.status == 1)
                #expect(named.errors == "notes: Not now.\n")
                #expect(named.output.isEmpty)
            }
        }

        @Test("announced by another DNS-SD stack than Avahi is found, and finds us")
        func otherStack() async throws {
            try await Lab.withNotes(hosts: 2) { hosts in
                let (a, lab) = (hosts[0], hosts[0].lab)
                try await lab.control("daemon", "b", "avahi", "stop")
                let browser = try lab.startPython("b", "zeroconf_peer.py", "browse", then: "10.77.0.2")
                let ours = try await a.startPeer()
                try await ours.line(holding: "announced service=", onErrors: true)
                let name = try await a.announcedName()
                try await browser.line(holding: "{\"event\": \"found\", \"service\": \"\(name)\", \"port\": 24280")
                try await browser.line(holding: "\"match\": {\"account\": true, \"team\": true}")

                let python = try await lab.startPythonPeer("b", title: Self.title, content: Self.content)
                let service = [python.announcement.service, String(PythonPeer.port)]
                let announcer = try lab.startPython("b", "zeroconf_peer.py", "announce", then: ["10.77.0.2"] + service)
                try await announcer.line(holding: "announced")
                try await Self.expectContinued(on: a, from: python)

                ours.interrupt()
                try await browser.line(holding: "{\"event\": \"removed\", \"service\": \"\(name)\"}")
            }
        }

        @Test("refuses by an alert who has no valid dial proof, and we say why")
        func refusesOurProof() async throws {
            try await Lab.withNotes(hosts: 2) { hosts in
                let lab = hosts[0].lab
                let announcement = try await lab.makeAnnouncement("b")
                let key = URL(fileURLWithPath: "\(lab.identity(of: "b"))/discovery.key")
                try Data((String(repeating: "0", count: 64) + "\n").utf8).write(to: key)
                let python = try await lab.startPythonPeer("b", title: "", content: "", announcedAs: announcement)
                try lab.publish("b", announcement.service, port: PythonPeer.port, announcement.txt)
                let peers = try await lab.peers(from: "a") { $0.contains { $0.pairing == "refused" } }
                #expect(peers.map(\.reason) == ["notOfThisAccount"])
                #expect(peers.map(\.account) == ["match"])
                try await python.command.line(holding: "\"event\": \"failed\"")
            }
        }

        @Test("that dials and breaks the rules is told so, and others are served all the while")
        func hostileDialler() async throws {
            try await Lab.withHostile { hosts in
                let python = try hosts[0].lab.startPython("b", "hostile_peer.py", "dial", then: "10.77.0.1", "24280")
                try await Self.expectAnswers(Self.answersToDialler, from: python, whileServing: hosts)
            }
        }

        @Test("that is dialled and breaks the rules is told so, and others are served all the while")
        func hostileAcceptor() async throws {
            try await Lab.withHostile { hosts in
                let lab = hosts[0].lab
                let misdeeds = Self.answersToAcceptor.keys.sorted()
                let announcement = try await lab.makeAnnouncement("b")
                let python = try lab.startPython("b", "hostile_peer.py", "serve", then: ["24300"] + misdeeds)
                for port in misdeeds.indices.map({ 24300 + $0 }) {
                    try lab.publish("b", "\(announcement.service)-\(port)", port: port, announcement.txt)
                }
                try await Self.expectAnswers(Self.answersToAcceptor, from: python, whileServing: hosts)
            }
        }

        /// What Tests/interop/hostile_peer.py does to an acceptor, and how it has to be answered.
        private static let answersToDialler = [
            "no dial proof": "alert handshake failure",
            "wrong dial proof": "alert handshake failure",
            "repeated dial proof": "alert handshake failure",
            "TLS 1.2": "alert protocol version",
            "other application protocol": "alert no application protocol",
            "no certificate": "alert certificate required",
            "ping before hello": "bye protocolViolation",
            "offers before hello": "bye protocolViolation",
            "unknown kind before hello": "bye protocolViolation",
            "empty frame": "bye protocolViolation",
            "oversized length": "bye protocolViolation",
            "largest length": "bye protocolViolation",
            "noise": "bye protocolViolation",
            "header only": "bye protocolViolation",
            "XML list": "bye protocolViolation",
            "array on top": "bye protocolViolation",
            "no kind": "bye protocolViolation",
            "kind is a number": "bye protocolViolation",
            "UID in the list": "bye protocolViolation",
            "33 containers": "bye protocolViolation",
            "10,001 values": "bye protocolViolation",
            "hello without instance": "bye protocolViolation",
            "short instance": "bye protocolViolation",
            "name of 256 bytes": "bye protocolViolation",
            "65 types": "bye protocolViolation",
            "no such versions": "bye protocolViolation",
            "later versions only": "bye versionUnsupported",
            "cut short": "bye timedOut",
            "silence": "bye timedOut",
            "second hello": "bye protocolViolation",
            "ping without sequence": "bye protocolViolation",
            "17 offers": "bye protocolViolation",
            "half a frame": "closed",
            "no such activity": "error 4608",
            "unknown kind": "unsupported dance",
        ]

        /// The same, to a dialler.
        private static let answersToAcceptor = [
            "offers for a hello": "bye protocolViolation",
            "unknown kind for a hello": "bye protocolViolation",
            "oversized length for a hello": "bye protocolViolation",
            "half a hello": "bye timedOut",
            "silence for a hello": "bye timedOut",
            "hello of later versions": "bye versionUnsupported",
            "hello for offers": "bye protocolViolation",
            "ping for offers": "bye protocolViolation",
            "unknown kind for offers": "bye protocolViolation",
            "silence for offers": "bye timedOut",
        ]

        private static func expectAnswers(
            _ expected: [String: String],
            from python: RunningCommand,
            whileServing hosts: [NotesHost]
        ) async throws {
            let (a, c) = (hosts[0], hosts[2])
            #expect(try await c.continueNote().outcome == .added)
            let outcome = try await python.outcome()
            #expect(outcome.errors.isEmpty)
            let answers = try JSONDecoder().decode([String: String].self, from: Data(outcome.output.utf8))
            for (misdeed, answer) in expected { #expect(answers[misdeed] == answer, "\(misdeed)") }
            #expect(answers.count == expected.count)
            #expect(try await c.continueNote().outcome == .same)
            try await a.awaitPeers(1)
        }

        private static func expectContinued(on host: NotesHost, from python: PythonPeer) async throws {
            try await host.awaitOffers(title)
            let report = try await host.continueNote()
            #expect(Array(report.title.utf8) == Array(title.utf8))
            #expect(report.outcome == .added)
            #expect(try await host.text(of: report.note).map { Array($0.utf8) } == Array(content.utf8))
            try await python.command.line(holding: "\"event\": \"continued\"")
            #expect(try await host.continueNote().outcome == .same)
        }
    }
}

/// A note's activity as Tests/interop prints it.
private struct NoteActivity: Decodable {
    struct UserInfo: Decodable {
        let id: String
        let title: String
        let content: String
    }

    let type: String
    let title: String
    let userInfo: UserInfo
}

/// What a Python peer says of a note that was sent to it.
private struct ReceivedNote: Decodable {
    let activity: NoteActivity
}

extension Lab {
    /// Makes three hosts: our peers on `a`, with a note that is open, and on `c`; nothing yet on `b`.
    fileprivate static func withHostile(_ test: ([NotesHost]) async throws -> Void) async throws {
        try await withNotes(hosts: 3) { hosts in
            for host in [hosts[0], hosts[2]] { try await host.startPeer() }
            try await hosts[0].succeed("open", hosts[0].make("Note", "text"))
            try await hosts[2].awaitOffers("Note")
            try await test(hosts)
        }
    }
}
