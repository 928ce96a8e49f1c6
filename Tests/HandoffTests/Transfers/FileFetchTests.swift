import Foundation
import HandoffModel
import HandoffSupport
import HandoffTestKit
import HandoffTransport
import Testing

@testable import Handoff

@Suite("Files between peers", .timeLimit(.minutes(1)))
struct FileFetchTests {
    private let directory: TransferDirectory

    init() throws { directory = try TransferDirectory() }

    /// Two linked peers, the first of which has some content for the second.
    private func withFile(
        _ content: [UInt8],
        _ body: (_ origin: TestPeer, _ target: TestPeer) async throws -> Void
    ) async throws {
        try await withPeers(2) { peers, _ in
            let path = try directory.file("source", content)
            let whole = digest(content)
            await peers[0].app.whenAsked { $0 == whole ? try await OutgoingFile.open(path) : nil }
            #expect(await peers[1].isLinked())
            try await body(peers[0], peers[1])
        }
    }

    @Test("A file of any size arrives whole", arguments: [0, 1, 16_383, 16_384, 16_385, 1 << 20, 3 << 20 + 1])
    func sizes(size: Int) async throws {
        let content = makeContent(size)
        try await withFile(content) { origin, target in
            try await target.peer.fetch(directory.receive(content), from: origin.peer.id)
            #expect(try digest(directory.content()) == digest(content))
            #expect(try directory.names == ["file", "source"])
            #expect(await origin.logs("a file was sent"))
        }
    }

    @Test("What an earlier try left is not sent again; what is not the beginning is")
    func resumes() async throws {
        let content = makeContent(3 << 20)
        for (left, sent) in [(Array(content.prefix(2 << 20)), 1 << 20), (makeContent(5).reversed(), 3 << 20)] {
            try await withFile(content) { origin, target in
                try directory.leavePartial(of: content, left)
                try await target.peer.fetch(directory.receive(content, replacing: true), from: origin.peer.id)
                #expect(try digest(directory.content()) == digest(content))
                #expect(await origin.logs("size=\(sent)"))
            }
        }
    }

    @Test("A file that is not for the peer, or not there, is refused, and leaves nothing")
    func refused() async throws {
        try await withFile([1, 2, 3]) { origin, target in
            for content: [UInt8] in [[1, 2, 4], []] {
                let file = try await directory.receive(content)
                await #expect(throws: HandoffError(.refused, "")) {
                    try await target.peer.fetch(file, from: origin.peer.id)
                }
            }
            // The digest is right, the size is not.
            let file = try await IncomingFile.open(directory.target, size: 4, digest: digest([1, 2, 3]))
            await #expect(throws: HandoffError(.refused, "")) {
                try await target.peer.fetch(file, from: origin.peer.id)
            }
            #expect(try directory.names == ["source"])
        }
    }

    @Test("A source that changes while it is sent never becomes a file, and both ends say so")
    func sourceChanges() async throws {
        let content = makeContent(mebibytes: 24)
        try await withFile(content) { origin, target in
            let path = directory.path + "/source"
            await origin.app.whenAsked { _ in
                let file = try await OutgoingFile.open(path)
                // Ends with the file.
                Task {
                    for await progress in file.progress where progress.stage == .moving { break }
                    let handle = try #require(FileHandle(forWritingAtPath: path))
                    try handle.seek(toOffset: 23 << 20)
                    try handle.write(contentsOf: [0, 0, 0])
                    try handle.close()
                }
                return file
            }
            let file = try await directory.receive(content)
            await #expect(throws: HandoffError(.handoffFailed, "")) {
                try await target.peer.fetch(file, from: origin.peer.id)
            }
            #expect(await origin.logs("was changed while it was read"))
            #expect(try !directory.names.contains("file"))
        }
    }

    @Test("A disk that is full is named at both ends, and what has come is kept", .enabled(if: geteuid() == 0))
    func diskFull() async throws {
        let content = makeContent(3 << 20)
        try await directory.withSmallDisk(mebibytes: 4) { disk in
            try await withFile(content) { origin, target in
                let source = directory.path + "/source"
                func fetch() async throws {
                    let size = Int64(content.count)
                    let file = try await IncomingFile.open(disk + "/file", size: size, digest: digest(content))
                    try await target.peer.fetch(file, from: origin.peer.id)
                }
                // There is room when it begins, and none later; then there is none from the beginning.
                await origin.app.whenAsked { _ in
                    // Written once: afterwards there is no room for it either.
                    try? Data(count: 2 << 20).write(to: URL(filePath: disk + "/other"))
                    return try await OutgoingFile.open(source)
                }
                for times in 1...2 {
                    let code = await transferCode { try await fetch() }
                    #expect(code == .diskFull)
                    #expect(await eventually { origin.log.count { $0.contains("no room in \(disk)") } == times })
                }
                await origin.app.whenAsked { _ in try await OutgoingFile.open(source) }
                try FileManager.default.removeItem(atPath: disk + "/other")
                try await fetch()
                #expect(try Array(Data(contentsOf: URL(filePath: disk + "/file"))) == content)
            }
        }
    }

    @Test("An origin that stops in the middle leaves what has come, and another with the file goes on from there")
    func goesOnElsewhere() async throws {
        let content = makeContent(mebibytes: 24)
        try await withPeers(3) { peers, _ in
            let path = try directory.file("source", content)
            for peer in peers.prefix(2) { await peer.app.whenAsked { _ in try await OutgoingFile.open(path) } }
            #expect(await peers[2].isLinked(to: 2))
            let file = try await directory.receive(content)
            let fetching = Task { try await peers[2].peer.fetch(file, from: peers[0].peer.id) }
            for await progress in file.progress where progress.stage == .moving && progress.completed >= 4 << 20 {
                break
            }
            await peers[0].stop()
            await #expect(throws: HandoffError.self) { try await fetching.value }
            #expect(try !directory.names.contains("file"))
            try await peers[2].peer.fetch(directory.receive(content), from: peers[1].peer.id)
            #expect(try digest(directory.content()) == digest(content))
            #expect(await peers[1].logs("a file was sent"))
            #expect(!peers[1].log.contains { $0.contains("size=\(24 << 20)") }, "it went on from where it broke off")
        }
    }

    @Test("A transfer that is cancelled is kept for the next try, and the origin hears of it")
    func cancelled() async throws {
        let content = makeContent(mebibytes: 24)
        try await withFile(content) { origin, target in
            let file = try await directory.receive(content)
            let fetching = Task { try await target.peer.fetch(file, from: origin.peer.id) }
            for await progress in file.progress where progress.stage == .moving { break }
            fetching.cancel()
            await #expect(throws: (any Error).self) { try await fetching.value }
            #expect(await origin.logs("a file was not sent"))
            #expect(await eventually(origin.peer) { $0.servedStreams.isEmpty })
            try await target.peer.fetch(directory.receive(content), from: origin.peer.id)
            #expect(try digest(directory.content()) == digest(content))
        }
    }
}
