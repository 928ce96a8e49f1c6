import Foundation
import Glibc
import HandoffTestKit
import NotesKit
import Testing

extension NetworkTests {
    @Suite("A note that is too large for a message")
    struct NotesAttachmentTests {
        @Test("goes by a stream without anybody noticing, byte for byte, both ways (001-10)")
        func large() async throws {
            try await Lab.withPeers(hosts: 2) { hosts in
                let (a, b) = (hosts[0], hosts[1])
                let lines = (0..<20_000).map { "Zeile \($0) — 日本酒 e\u{301}\r\n" }.joined()
                let note = try await a.make("Long", "short")
                try await a.succeed("open", note)
                try await a.rewrite(note, lines)
                try await b.awaitOffers("Long")
                #expect(try await b.continueNote().outcome == .added)
                #expect(try await b.text(of: note).map { Array($0.utf8) } == Array(lines.utf8))
                try await a.succeed("close")
                try await b.rewrite(note, lines + "end")
                try await b.succeed("send", note, "--to", "a")
                #expect(try await a.text(of: note).map { Array($0.utf8) } == Array((lines + "end").utf8))
            }
        }

        @Test("brings its attachments along, each content once, with or without a peer running here, pulled or pushed")
        func attachments() async throws {
            try await Lab.withNotes(hosts: 3) { hosts in
                let (a, b, c) = (hosts[0], hosts[1], hosts[2])
                for host in [a, b] { try await host.startPeer() }
                for host in [a, b] { try await host.awaitPeers(1) }
                let note = try await a.make("Holidays", "text")
                let picture = try a.file("beach.jpg", mebibytes: 3)
                let empty = try a.file("empty", mebibytes: 0)
                let same = try a.file("copy of beach.jpg", mebibytes: 3)
                try await a.succeed("attach", note, picture, empty, same)
                try await a.succeed("open", note)
                try await b.awaitOffers("Holidays")
                let report = try await b.continueNote()
                #expect(report.attachments.map(\.name) == ["beach.jpg", "empty"])
                #expect(report.attachments.allSatisfy { $0.problem == nil })
                try await b.expectAttachments(of: note, like: [picture, empty, same])
                #expect(try b.leftovers().isEmpty)
                // From who has it from somebody else, as a visitor.
                try await a.succeed("close")
                try await b.succeed("open", note)
                #expect(try await c.continueNote("--from", "b").attachments.allSatisfy { $0.problem == nil })
                try await c.expectAttachments(of: note, like: [picture, empty, same])
                try await b.succeed("close")
                try await b.succeed("attach", note, try b.file("new", mebibytes: 1))
                let sent = try await b.run("send", note, "--to", "a", "--json")
                #expect(sent.status == 0, "\(sent)")
                try await a.expectAttachments(of: note, like: [picture, empty, same, "\(b.home)/new"])
                // From a visitor, which listens only for this.
                let other = try await c.make("Of c", "x")
                try await c.succeed("attach", other, try c.file("of c", mebibytes: 2))
                try await c.succeed("send", other, "--to", "a")
                try await a.expectAttachments(of: other, like: ["\(c.home)/of c"])
            }
        }

        @Test(
            "is there without an attachment that broke off, which goes on where it was when the host is back",
            .enabled(if: Lab.runsLong)
        )
        func longCable() async throws {
            try await Lab.withPeers(hosts: 2) { hosts in
                let (a, b) = (hosts[0], hosts[1])
                let note = try await a.make("Film", "text")
                let film = try a.file("film", mebibytes: 1200)
                try await a.succeed("attach", note, film)
                try await a.succeed("open", note)
                try await b.awaitOffers("Film")
                let continuing = try b.start("continue", "--json")
                #expect(try await eventually { try b.partialSize() > 64 << 20 })
                try await a.lab.control("cut", "a")
                let broken = try await continuing.outcome(within: .seconds(90))
                #expect(broken.status == 1, "\(broken)")
                #expect(broken.errors.contains("“film” is not here"))
                #expect(try await b.text(of: note) == "text")
                let kept = try b.partialSize()
                #expect(kept >= 64 << 20)
                // Its origin is started anew meanwhile, and offers nothing any more.
                try await a.signalPeer(SIGKILL)
                try await a.lab.control("mend", "a")
                #expect(try await eventually { try await a.status() == nil })
                try await a.startPeer()
                try await b.awaitPeers(1)
                let fetched = try await b.run("fetch", note)
                #expect(fetched.status == 0, "\(fetched)")
                try await b.expectAttachments(of: note, like: [film])
                #expect(try b.leftovers().isEmpty)
            }
        }

        @Test("keeps what has come when either peer is killed, and is never a short file")
        func killed() async throws { try await kill(times: 2) }

        @Test("keeps what has come when the peers are killed at ten points", .enabled(if: Lab.runsLong))
        func longKilled() async throws { try await kill(times: 10) }

        private func kill(times: Int) async throws {
            try await Lab.withPeers(hosts: 2) { hosts in
                let (a, b) = (hosts[0], hosts[1])
                let note = try await a.make("Film", "text")
                let film = try a.file("film", mebibytes: 400)
                try await a.succeed("attach", note, film)
                try await a.succeed("open", note)
                try await b.awaitOffers("Film")
                // Each time a little further, and each end in turn.
                for turn in 1...times {
                    let continuing = try b.start(turn == 1 ? "continue" : "fetch", turn == 1 ? "--json" : note)
                    let goal = turn * 36 << 20
                    _ = try await eventually { try b.partialSize() > goal || b.hasBlobs() }
                    let victim = hosts[turn % 2]
                    try await victim.signalPeer(SIGKILL)
                    _ = try await continuing.outcome(within: .seconds(60))
                    let state = try await b.run("attachments", note)
                    #expect(state.output.contains(" here") || state.output.contains("missing"), "\(state)")
                    #expect(try await eventually { try await victim.status() == nil })
                    try await victim.startPeer()
                    for host in hosts { try await host.awaitPeers(1, within: .seconds(40)) }
                }
                #expect(try await b.run("fetch", note).status == 0)
                try await b.expectAttachments(of: note, like: [film])
                #expect(try b.leftovers().isEmpty)
            }
        }

        @Test("says at both ends which disk is full, keeps what has come, and everything else works on")
        func diskFull() async throws {
            try await Lab.withNotes(hosts: 2) { hosts in
                let (a, b) = (hosts[0], hosts[1])
                try await b.mountSmallDisk(mebibytes: 8)
                let origin = try await a.startPeer()
                try await b.startPeer()
                for host in hosts { try await host.awaitPeers(1) }
                let note = try await a.make("Film", "text")
                try await a.succeed("attach", note, try a.file("film", mebibytes: 40))
                try await a.succeed("open", note)
                try await b.awaitOffers("Film")
                let outcome = try await b.run("continue")
                #expect(outcome.status == 1)
                #expect(outcome.errors.contains("no room in \(b.home)/data/blobs"), "\(outcome)")
                try await origin.line(holding: "no room in \(b.home)/data/blobs", onErrors: true)
                let sent = try await a.run("send", note, "--to", "b")
                #expect(sent.errors.contains("no room in \(b.home)/data/blobs"), "\(sent)")
                // Text has room, and so have other notes.
                #expect(try await b.text(of: note) == "text")
                try await a.succeed("send", a.make("Small", "x"), "--to", "b")
                #expect(try await b.text(of: "Small") == "x")
            }
        }
    }
}

extension NotesHost {
    /// Makes a file of this size outside of the app's directories.
    func file(_ name: String, mebibytes: Int) throws -> String {
        let path = "\(home)/\(name)"
        let piece = Data(
            (0..<(1 << 20) / 8).flatMap { number in withUnsafeBytes(of: number &* 0x9E37_79B9) { Array($0) } }
        )
        try Data().write(to: URL(filePath: path))
        let file = try #require(FileHandle(forWritingAtPath: path))
        for number in 0..<mebibytes {
            try file.write(
                contentsOf: Data([UInt8(truncatingIfNeeded: number), UInt8(number >> 8)]) + piece.dropFirst(2)
            )
        }
        try file.close()
        return path
    }

    /// Saves a note's attachments and compares them with files, in their order.
    func expectAttachments(
        of note: String,
        like files: [String],
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        struct Listed: Decodable {
            let name: String
            let state: String
        }
        let listed = try JSONDecoder().decode(
            [Listed].self,
            from: Data(try await succeed("attachments", note, "--json").utf8)
        )
        let names = files.map { String($0.split(separator: "/").last ?? "") }
        #expect(listed.map(\.name) == names, sourceLocation: sourceLocation)
        #expect(listed.allSatisfy { $0.state == "here" }, "\(listed)", sourceLocation: sourceLocation)
        for (name, file) in zip(names, files) {
            let saved = "\(lab.directory)/saved-\(UUID().uuidString)"
            try await succeed("save-attachment", note, name, "--output", saved)
            #expect(FileManager.default.contentsEqual(atPath: saved, andPath: file), sourceLocation: sourceLocation)
            try FileManager.default.removeItem(atPath: saved)
        }
    }

    /// The files among the contents that have not their final name.
    func leftovers() throws -> [String] { try blobs().filter { $0.contains(".partial") } }

    func hasBlobs() throws -> Bool { try blobs().contains { !$0.contains(".partial") && $0.count > 64 } }

    /// How much has come of what is being received.
    func partialSize() throws -> Int {
        let sizes = try leftovers().map { name in
            let attributes = try? FileManager.default.attributesOfItem(atPath: "\(home)/data/blobs/\(name)")
            return (attributes?[.size] as? Int) ?? 0
        }
        return sizes.max() ?? 0
    }

    private func blobs() throws -> [String] {
        let directory = "\(home)/data/blobs"
        guard FileManager.default.fileExists(atPath: directory) else { return [] }
        return try FileManager.default.subpathsOfDirectory(atPath: directory)
    }

    /// Puts the app's data on a disk of this size; it goes with the lab.
    fileprivate func mountSmallDisk(mebibytes: Int) async throws {
        let data = "\(home)/data"
        try FileManager.default.createDirectory(atPath: data, withIntermediateDirectories: true)
        let mount = try lab.launch(
            ["Tests/lan/lab", "exec", name, "mount", "-t", "tmpfs", "-o", "size=\(mebibytes)m,mode=0700", "none", data]
        )
        let outcome = try await mount.outcome()
        guard outcome.status == 0 else { throw CommandProblem(description: "mount on \(name): \(outcome)") }
    }
}
