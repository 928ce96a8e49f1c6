import Foundation
import HandoffSupport
import Testing

@testable import Handoff

@Suite("A file that is received")
struct IncomingFileTests {
    private let directory: TransferDirectory
    private let content = makeContent(300_000)

    init() throws {
        directory = try TransferDirectory()
    }

    @Test("gets its name when it is whole, and not before", arguments: [0, 1, 16_383, 16_384, 16_385, 300_000])
    func whole(count: Int) async throws {
        let content = Array(content[..<count])
        let file = try await directory.receive(content)
        #expect(try await file.resumePoint() == ResumePoint(offset: 0, digest: digest([])))
        for start in stride(from: 0, to: count, by: 70_000) {
            #expect(!FileManager.default.fileExists(atPath: directory.target))
            try await file.append(Array(content[start..<min(start + 70_000, count)]))
        }
        try await file.commit()
        #expect(try directory.names == ["file"])
        #expect(try directory.content() == content)
        #expect(try mode(of: directory.target) == 0o600)
        #expect(try directory.openFiles.isEmpty)
    }

    private func mode(of path: String) throws -> mode_t {
        var status = stat()
        try #require(lstat(path, &status) == 0)
        return status.st_mode & 0o777
    }

    @Test("goes on from wherever an earlier try ended", arguments: [0, 1, 4_096, 262_144, 299_999, 300_000])
    func resumes(length: Int) async throws {
        try directory.leavePartial(of: content, Array(content[..<length]))
        let file = try await directory.receive(content)
        let point = try await file.resumePoint()
        #expect(point == ResumePoint(offset: Int64(length), digest: digest(Array(content[..<length]))))
        try await file.append(Array(content[length...]))
        try await file.commit()
        #expect(try directory.content() == content)
        #expect(try directory.names == ["file"])
    }

    @Test("goes on in another process after one was killed while it wrote")
    func killed() async throws {
        let (path, content) = (directory.path, content)
        await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String, content = content as [UInt8]] in
            let file = try await IncomingFile.open(path + "/file", size: 300_000, digest: digest(content))
            try await file.append(Array(content[..<123_456]))
            kill(getpid(), SIGKILL)
        }
        let file = try await directory.receive(content)
        let point = try await file.resumePoint()
        #expect(point == ResumePoint(offset: 123_456, digest: digest(Array(content[..<123_456]))))
        try await file.append(Array(content[123_456...]))
        try await file.commit()
        #expect(try directory.content() == content)
    }

    @Test("tells the digest of what is there, be it right or wrong")
    func wrongBeginning() async throws {
        // As a file system may after a power cut: the length is there, the content is not.
        let left = Array(content[..<1_000]) + [UInt8](repeating: 0, count: 500)
        try directory.leavePartial(of: content, left)
        let file = try await directory.receive(content)
        #expect(try await file.resumePoint() == ResumePoint(offset: 1_500, digest: digest(left)))
        try await file.restart()
        #expect(try await file.resumePoint().offset == 0)
        try await file.append(content)
        try await file.commit()
        #expect(try directory.content() == content)
    }

    @Test("begins again where what was left cannot be a beginning", arguments: [300_000, 300_001, 1_000_000])
    func uselessPartial(length: Int) async throws {
        try directory.leavePartial(of: content, [UInt8](repeating: 7, count: length))
        let file = try await directory.receive(content)
        #expect(try await file.resumePoint().offset == 0)
        try await file.append(content)
        try await file.commit()
        #expect(try directory.content() == content)
    }

    @Test("is discarded where it is not what was agreed on")
    func wrongDigest() async throws {
        let file = try await directory.receive(content)
        try await file.append(content.dropLast() + [content[content.count - 1] ^ 1])
        #expect(await transferCode { try await file.commit() } == .digestMismatch)
        #expect(try directory.names.isEmpty)
        #expect(try directory.openFiles.isEmpty)
        #expect(await transferCode { try await file.append([]) } == .closed)
    }

    @Test("never gets its name while something is missing, and what came is kept")
    func incomplete() async throws {
        let file = try await directory.receive(content)
        try await file.append(content.dropLast())
        #expect(await transferCode { try await file.commit() } == .incomplete)
        await file.close()
        #expect(try directory.names == [".\(digest(content)).partial"])
        try await #expect(directory.receive(content).resumePoint().offset == 299_999)
    }

    @Test("takes no byte more than was told")
    func tooLong() async throws {
        let file = try await directory.receive(content)
        #expect(await transferCode { try await file.append(content + [1]) } == .tooLong)
        try await file.append(content)
        #expect(await transferCode { try await file.append([1]) } == .tooLong)
        try await file.commit()
        #expect(try directory.content() == content)
    }

    @Test("of an impossible size is refused before anything is written", arguments: [-1, Int64.min, 1 << 62 + 1, .max])
    func hostileSize(size: Int64) async throws {
        let code = await transferCode {
            try await IncomingFile.open(directory.target, size: size, digest: digest([]))
        }
        #expect(code == .invalidSize)
        #expect(try directory.names.isEmpty)
    }

    @Test("that no disk could hold is refused before anything is asked for")
    func tooLargeForTheDisk() async throws {
        let size = IncomingFile.maximumSize
        let file = try await IncomingFile.open(directory.target, size: size, digest: digest([]))
        let error = await #expect(throws: TransferError.self) { try await file.resumePoint() }
        #expect(error?.code == .diskFull)
        #expect(error?.missingBytes ?? 0 > 1 << 60)
        #expect(error?.description.contains(directory.path) == true)
        await file.close()
        #expect(try directory.names.isEmpty)
    }

    @Test("never takes the place of another file, unless it is told to")
    func targetExists() async throws {
        _ = try directory.file("file", [1])
        #expect(await transferCode { try await directory.receive(content) } == .targetExists)
        let file = try await directory.receive(content, replacing: true)
        try await file.append(content)
        #expect(try directory.content() == [1])
        try await file.commit()
        #expect(try directory.content() == content)
        #expect(try directory.names == ["file"])
    }

    @Test("leaves alone a file that took its name meanwhile, and can be given another one")
    func targetAppears() async throws {
        let file = try await directory.receive(content)
        try await file.append(content)
        _ = try directory.file("file", [1])
        #expect(await transferCode { try await file.commit() } == .targetExists)
        #expect(try directory.content() == [1])
        await file.close()
        let again = try await IncomingFile.open(
            directory.path + "/other",
            size: Int64(content.count),
            digest: digest(content)
        )
        #expect(try await again.resumePoint().offset == 300_000)
        try await again.commit()
        #expect(try directory.content(of: "other") == content)
    }

    @Test("is written by one transfer at a time")
    func locked() async throws {
        let file = try await directory.receive(content)
        try await file.append([content[0]])
        #expect(await transferCode { try await directory.receive(content) } == .busy)
        await file.close()
        try await #expect(directory.receive(content).resumePoint().offset == 1)
    }

    @Test("is not written through a name that a finished file still has")
    func killedBetweenNames() async throws {
        let finished = try directory.file("finished", content)
        try #require(link(finished, IncomingFile.partialPath(for: digest(content), target: directory.target)) == 0)
        let file = try await directory.receive(content)
        #expect(try await file.resumePoint().offset == 0)
        try await file.append([0xFF])
        #expect(try directory.content(of: "finished") == content)
    }

    @Test("is not written through a link, nor into a pipe or directory that stands in its place")
    func placeTaken() async throws {
        let partial = IncomingFile.partialPath(for: digest(content), target: directory.target)
        let victim = try directory.file("victim", [1])
        try #require(symlink(victim, partial) == 0)
        #expect(await transferCode { try await directory.receive(content) } == .targetUnusable)
        try #require(unlink(partial) == 0 && mkfifo(partial, 0o600) == 0)
        #expect(await transferCode { try await directory.receive(content) } == .targetUnusable)
        try #require(unlink(partial) == 0 && mkdir(partial, 0o700) == 0)
        #expect(await transferCode { try await directory.receive(content) } == .targetUnusable)
        #expect(try directory.content(of: "victim") == [1])
    }

    @Test("is closed to others, also where an earlier partial file was not")
    func modes() async throws {
        try directory.leavePartial(of: content, [content[0]])
        let partial = IncomingFile.partialPath(for: digest(content), target: directory.target)
        try #require(chmod(partial, 0o666) == 0)
        let file = try await directory.receive(content)
        #expect(try mode(of: partial) == 0o600)
        try await file.discard()
        #expect(try directory.names.isEmpty)
    }

    @Test("leaves nothing where nothing came, and what came where something did")
    func letGo() async throws {
        do { _ = try await directory.receive(content).resumePoint() }
        #expect(try directory.names.isEmpty)
        do { try await directory.receive(content).append([content[0]]) }
        #expect(try directory.names.count == 1)
        #expect(try directory.openFiles.isEmpty)
    }

    @Test("tells how far checking and receiving are, and when that ends")
    func progress() async throws {
        try directory.leavePartial(of: content, Array(content[..<1_000]))
        let file = try await directory.receive(content)
        var progress = file.progress.makeAsyncIterator()
        _ = try await file.resumePoint()
        #expect(await progress.next() == TransferProgress(.checking, completed: 1_000, total: 1_000))
        try await file.append(Array(content[1_000...]))
        #expect(await progress.next() == TransferProgress(.moving, completed: 300_000, total: 300_000))
        try await file.commit()
        #expect(await progress.next() == nil)
    }
}
