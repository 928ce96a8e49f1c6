import Foundation
import NotesKit
import Testing

extension NetworkTests {
    /// The second implementation is Tests/interop/handoff_streams.py, written from docs/protocol.md alone.
    @Suite("The streams of a second implementation")
    struct InteropStreamTests {
        /// What our streams have to be told apart by at the end of a test.
        private static let lines = (0..<8_000).map { "Zeile \($0) — 日本酒 e\u{301}\r\n" }.joined()

        @Test("bring it a long text and attachments of ours, and go on where an earlier try broke off")
        func fetchesOurs() async throws {
            try await Lab.withNotes(hosts: 2) { hosts in
                let (a, lab) = (hosts[0], hosts[0].lab)
                let origin = try await a.startPeer()
                let note = try await a.makeLong("Long", Self.lines)
                let (film, empty) = (try a.file("film", mebibytes: 3), try a.file("empty", mebibytes: 0))
                try await a.succeed("attach", note, film, empty)
                try await a.succeed("open", note)

                let directory = try lab.makeDirectory("taken")
                let first = try await lab.continueByPython(on: "b", into: directory)
                #expect(first.output.contains("\"streamed\": true"), "\(first)")
                #expect(try Data(contentsOf: directory.appending(path: "text")) == Data(Self.lines.utf8))
                #expect(try Self.files(in: directory) == [Data(), try Data(contentsOf: URL(filePath: film))])

                // Of the film a beginning; of nothing, nothing.
                let begun = try lab.makeDirectory("begun")
                for name in try FileManager.default.contentsOfDirectory(atPath: directory.path) where name != "text" {
                    let content = try Data(contentsOf: directory.appending(path: name))
                    try content.prefix(1_234_567).write(to: begun.appending(path: name))
                }
                let second = try await lab.continueByPython(on: "b", into: begun)
                #expect(second.output.contains("\"size\": 3145728, \"offset\": 1234567}"), "\(second)")
                #expect(try Self.files(in: begun) == Self.files(in: directory))
                // The receipt has come: only what was missing was sent.
                let rest = 3_145_728 - 1_234_567
                try await origin.line(holding: "a file was sent peer=", onErrors: true)
                try await origin.line(holding: "size=\(rest)", onErrors: true)
            }
        }

        @Test("bring us its long text and its attachment, whose receipt it gets")
        func givesTheirs() async throws {
            try await Lab.withNotes(hosts: 2) { hosts in
                let (a, b, lab) = (hosts[0], hosts[1], hosts[0].lab)
                try await a.startPeer()
                let film = try b.file("film", mebibytes: 3)
                let text = try lab.write(Self.lines)
                let python = try await lab.startPythonPeer(
                    "b",
                    "handoff_streams.py",
                    serving: ["--title", "Long", "--text", text, "--attach", film]
                )
                try lab.publish("b", python)
                try await a.awaitOffers("Long")
                let report = try await a.continueNote()
                #expect(report.outcome == .added)
                #expect(try await a.text(of: report.note).map { Array($0.utf8) } == Array(Self.lines.utf8))
                #expect(report.attachments.map(\.problem) == [nil])
                try await python.command.line(holding: "{\"event\": \"text sent\", \"rest\": 0}")
                try await python.command.line(holding: "{\"event\": \"blob sent\", \"offset\": 0, \"receipt\": {}}")
                try await a.expectAttachments(of: report.note, like: [film])
                #expect(try a.leftovers().isEmpty)
            }
        }

        @Test("bring what is sent, either way, and tell the sender when all of it is there")
        func sends() async throws {
            try await Lab.withNotes(hosts: 2) { hosts in
                let (a, b, lab) = (hosts[0], hosts[1], hosts[0].lab)
                let peer = try await a.startPeer()
                let film = try b.file("film", mebibytes: 3)
                let long = ["--title", "Theirs", "--text", try lab.write(Self.lines), "--attach", film]
                let arguments = ["10.77.0.1", "24280"] + long
                let outcome = try await lab.startPython("b", "handoff_streams.py", "send", then: arguments).outcome()
                #expect(outcome.status == 0, "\(outcome)")
                #expect(outcome.output.contains("{\"event\": \"delivered\", \"done\": true}"))
                try await peer.line(holding: "received: continued “Theirs” from b")
                #expect(try await a.text(of: "Theirs").map { Array($0.utf8) } == Array(Self.lines.utf8))
                try await a.expectAttachments(of: "Theirs", like: [film])

                let directory = try lab.makeDirectory("taken")
                let taking = ["--title", "", "--text", "/dev/null", "--directory", directory.path]
                let taker = try await lab.startPythonPeer("b", "handoff_streams.py", serving: taking)
                try lab.publish("b", taker)
                try await a.awaitPeers(1)
                let note = try await a.makeLong("Ours", Self.lines)
                try await a.succeed("attach", note, film)
                try await a.succeed("send", note, "--to", "b")
                #expect(try Data(contentsOf: directory.appending(path: "text")) == Data(Self.lines.utf8))
                #expect(try Self.files(in: directory) == [Data(contentsOf: URL(filePath: film))])
            }
        }

        @Test("never pass for a whole text where they end too early, go on too long or are not what was told")
        func hostileText() async throws {
            try await Lab.withNotes(hosts: 2) { hosts in
                let (a, lab) = (hosts[0], hosts[0].lab)
                try await a.startPeer()
                let misdeeds = [
                    ("another certificate", "closed"), ("FIN in a record", "closed"), ("FIN after a record", "closed"),
                    ("FIN after the last byte", "closed"), ("nothing", "closed"), ("a byte too few", "closed"),
                    ("a byte too many", "closed"), ("another content", "ended"),
                ]
                let note = ["--title", "Long", "--text", try lab.write(Self.lines)]
                let python = try await lab.startHostile("b", misdeeds.map(\.0), note)
                try lab.publish("b", python)
                try await a.awaitOffers("Long")
                for (misdeed, answer) in misdeeds {
                    let outcome = try await a.run("continue")
                    #expect(outcome.status == 1, "\(misdeed): \(outcome)")
                    #expect(try await a.titles() == [], "\(misdeed)")
                    try await python.command.line(holding: "\"name\": \"\(misdeed)\", \"answer\": \"\(answer)\"")
                }
                let report = try await a.continueNote()
                #expect(try await a.text(of: report.note).map { Array($0.utf8) } == Array(Self.lines.utf8))
            }
        }

        @Test("never pass for a whole attachment either, and what has come of it is kept where it can be of use")
        func hostileBlob() async throws {
            try await Lab.withNotes(hosts: 2) { hosts in
                let (a, b, lab) = (hosts[0], hosts[1], hosts[0].lab)
                try await a.startPeer()
                let film = try b.file("film", mebibytes: 3)
                // What is here after each, in bytes.
                let misdeeds = [
                    ("another certificate", "closed", 0), ("another content", "receipt", 0),
                    ("nothing", "receipt", 0), ("FIN in a record", "closed", 1 << 20),
                    ("a byte too many", "receipt", 3 << 20), ("a byte too few", "receipt", (3 << 20) - 1),
                    ("FIN after a record", "closed", 1 << 20), ("FIN after the last byte", "closed", 3 << 20),
                ]
                // A short text, so that each stream is the attachment's.
                let note = ["--title", "Film", "--text", try lab.write("text"), "--attach", film]
                let python = try await lab.startHostile("b", misdeeds.map(\.0), note)
                try lab.publish("b", python)
                try await a.awaitOffers("Film")
                for (number, (misdeed, answer, kept)) in misdeeds.enumerated() {
                    let outcome = try await a.run(number == 0 ? ["continue"] : ["fetch", "Film"])
                    #expect(outcome.status == 1, "\(misdeed): \(outcome)")
                    #expect(outcome.errors.contains("“film”"), "\(misdeed): \(outcome)")
                    try await python.command.line(holding: "\"name\": \"\(misdeed)\", \"answer\": \"\(answer)\"")
                    #expect(try !a.hasBlobs(), "\(misdeed)")
                    #expect(try a.partialSize() == kept, "\(misdeed)")
                }
                #expect(try await a.text(of: "Film") == "text")
                try await a.succeed("fetch", "Film")
                try await python.command.line(holding: "\"offset\": \(3 << 20), \"receipt\": {}}")
                try await a.expectAttachments(of: "Film", like: [film])
                #expect(try a.leftovers().isEmpty)
            }
        }

        @Test("are given to nobody but who has a fresh token and the certificate that it was given to")
        func hostileDialler() async throws {
            try await Lab.withNotes(hosts: 3) { hosts in
                let (a, c, lab) = (hosts[0], hosts[2], hosts[0].lab)
                for host in [a, c] { try await host.startPeer() }
                let note = try await a.makeLong("Long", Self.lines)
                try await a.succeed("attach", note, a.file("film", mebibytes: 1))
                try await a.succeed("open", note)
                try await c.awaitOffers("Long")
                // As another machine than c, whose peer fetches meanwhile.
                try await lab.enrol("d")
                let python = try lab.startPython(
                    "b",
                    "hostile_streams.py",
                    "dial",
                    then: ["10.77.0.1", "24280", lab.identity(of: "d")]
                )
                #expect(try await c.continueNote().outcome == .added)
                let outcome = try await python.outcome()
                #expect(outcome.errors.isEmpty)
                let answers = try JSONDecoder().decode([String: String].self, from: Data(outcome.output.utf8))
                for (misdeed, answer) in Self.answersToDialler { #expect(answers[misdeed] == answer, "\(misdeed)") }
                #expect(answers.count == Self.answersToDialler.count)
                #expect(try await c.continueNote().outcome == .same)
            }
        }

        private static let answersToDialler = [
            "no token": "closed",
            "unknown token": "closed",
            "short token": "closed",
            "token as a text": "closed",
            "noise for a token": "closed",
            "token in a large frame": "closed",
            "half a token": "closed",
            "token used twice": "data, closed",
            "token with another certificate": "closed",
            "hash of another text": "closed",
            "stream of an unknown activity": "error 4608",
            "stream of nothing": "bye protocolViolation",
            "blob with a short digest": "bye protocolViolation",
            "blob of negative size": "bye protocolViolation",
            "blob from a negative offset": "bye protocolViolation",
            "blob from beyond its end": "bye protocolViolation",
            "blob of nothing but a size": "bye protocolViolation",
            "unknown blob": "error 5000",
            "blob of a note that another has fetched": "error 5000",
            "beginning that is not there": "[0, 0, 0]",
        ]

        private static func files(in directory: URL) throws -> [Data] {
            try FileManager.default.contentsOfDirectory(atPath: directory.path).filter { $0 != "text" }
                .map { try Data(contentsOf: directory.appending(path: $0)) }
                .sorted { $0.count < $1.count }
        }
    }
}

extension NotesHost {
    /// Makes a note with a text that is longer than an argument may be, and gives its id.
    fileprivate func makeLong(_ title: String, _ content: String) async throws -> String {
        let note = try await make(title)
        try await rewrite(note, content)
        return note
    }
}

extension Lab {
    /// Writes a text into a file, and gives its path.
    fileprivate func write(_ text: String) throws -> String {
        let path = "\(directory)/text"
        try Data(text.utf8).write(to: URL(filePath: path))
        return path
    }

    fileprivate func makeDirectory(_ name: String) throws -> URL {
        let directory = URL(filePath: directory).appending(path: name)
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        return directory
    }

    /// Lets Python continue what a offers, into a directory.
    fileprivate func continueByPython(on host: String, into directory: URL) async throws -> Outcome {
        let python = try startPython(
            host,
            "handoff_streams.py",
            "continue",
            then: "10.77.0.1",
            "24280",
            directory.path
        )
        let outcome = try await python.outcome()
        #expect(outcome.status == 0, "\(outcome)")
        return outcome
    }

    /// Starts a Python peer that does a misdeed with each stream; it has host c's identity for one of them.
    fileprivate func startHostile(_ host: String, _ misdeeds: [String], _ note: [String]) async throws -> PythonPeer {
        try await enrol("c")
        let arguments = note + ["--other", identity(of: "c")] + misdeeds
        return try await startPythonPeer(host, "hostile_streams.py", serving: arguments)
    }
}
