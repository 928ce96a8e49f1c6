import Foundation
import HandoffSupport
import HandoffTransport
import Testing

@testable import Handoff

@Suite("A file that is sent")
struct OutgoingFileTests {
    private let directory: TransferDirectory

    init() throws {
        directory = try TransferDirectory()
    }

    @Test("has its size, its digest and its content", arguments: [0, 1, 16_383, 16_384, 16_385, 262_145])
    func content(count: Int) async throws {
        let content = makeContent(count)
        let file = try await OutgoingFile.open(directory.file("a", content))
        #expect(file.size == Int64(count))
        #expect(try await file.digest() == digest(content))
        var read: [UInt8] = []
        while read.count < count { read += try await file.read(10_000, at: Int64(read.count)) }
        #expect(read == content)
        #expect(try await file.read(10, at: file.size).isEmpty)
    }

    @Test("is not hashed again where its digest is known")
    func stored() async throws {
        let known = digest([1])
        let file = try await OutgoingFile.open(stored: directory.file("a", [1, 2, 3]), digest: known)
        #expect(try await file.digest() == known)
    }

    @Test("knows its own beginning, and no other")
    func beginning() async throws {
        let content = makeContent(1_000)
        let file = try await OutgoingFile.open(directory.file("a", content))
        for offset in [0, 1, 999, 1_000] {
            let point = ResumePoint(offset: Int64(offset), digest: digest(Array(content[..<offset])))
            #expect(try await file.begins(with: point))
        }
        #expect(try await !file.begins(with: ResumePoint(offset: 1_000, digest: digest(content.dropLast() + [0]))))
        for offset in [-1, 1_001, Int64.min, Int64.max] {
            #expect(try await !file.begins(with: ResumePoint(offset: offset, digest: digest(content))))
        }
    }

    @Test("has to be a file with content", arguments: ["/dev/zero", "/dev/null", "/proc"])
    func notAFile(path: String) async {
        #expect(await transferCode { try await OutgoingFile.open(path) } == .notAFile)
    }

    @Test("may not be a pipe, and nobody waits for the pipe's other end")
    func pipe() async throws {
        let path = directory.path + "/pipe"
        try #require(mkfifo(path, 0o600) == 0)
        #expect(await transferCode { try await OutgoingFile.open(path) } == .notAFile)
    }

    @Test("has to be there, and to be no link where it is stored by its digest")
    func missing() async throws {
        #expect(await transferCode { try await OutgoingFile.open(directory.path + "/none") } == .inputOutput)
        let path = try directory.file("a", [1])
        try FileManager.default.createSymbolicLink(atPath: directory.path + "/link", withDestinationPath: path)
        #expect(try await OutgoingFile.open(directory.path + "/link").size == 1)
        let code = await transferCode {
            try await OutgoingFile.open(stored: directory.path + "/link", digest: digest([1]))
        }
        #expect(code == .inputOutput)
    }

    /// What somebody may do to a file while it is sent.
    enum Change: CaseIterable {
        case write, append, cut, touch

        func apply(to path: String) throws {
            let file = try FileHandle(forUpdating: URL(fileURLWithPath: path))
            defer { try? file.close() }
            switch self {
            case .write: try file.write(contentsOf: Data([0xFF]))
            case .append:
                try file.seekToEnd()
                try file.write(contentsOf: Data([1]))
            case .cut: try file.truncate(atOffset: 50_000)
            case .touch: break
            }
            // Whatever the clock's steps: the change is later than the opening.
            var times = [timeval(tv_sec: 1, tv_usec: 0), timeval(tv_sec: 2, tv_usec: 0)]
            try #require(utimes(path, &times) == 0)
        }
    }

    @Test("that is changed meanwhile is noticed", arguments: Change.allCases)
    func changed(change: Change) async throws {
        let path = try directory.file("a", makeContent(100_000))
        let file = try await OutgoingFile.open(path)
        _ = try await file.read(1_000, at: 0)
        try change.apply(to: path)
        #expect(await transferCode { try await file.read(1_000, at: 1_000) } == .sourceChanged)
        #expect(await transferCode { try await file.read(100_000, at: 0) } == .sourceChanged)
        #expect(await transferCode { try await file.digest() } == .sourceChanged)
    }

    @Test("tells how far hashing and reading are")
    func progress() async throws {
        let file = try await OutgoingFile.open(directory.file("a", makeContent(600_000)))
        var progress = file.progress.makeAsyncIterator()
        _ = try await file.digest()
        #expect(await progress.next() == TransferProgress(.checking, completed: 600_000, total: 600_000))
        _ = try await file.read(1_000, at: 500)
        #expect(await progress.next() == TransferProgress(.moving, completed: 1_500, total: 600_000))
    }

    @Test("stops hashing when nobody wants the digest any more")
    func cancelled() async throws {
        let file = try await OutgoingFile.open(directory.file("a", makeContent(1_000)))
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return try await file.digest()
        }
        await #expect(throws: CancellationError.self) { try await task.value }
    }

    @Test("leaves no descriptor open")
    func descriptors() async throws {
        do {
            let file = try await OutgoingFile.open(directory.file("a", [1]))
            _ = try await file.digest()
            #expect(try directory.openFiles.count == 1)
        }
        #expect(try directory.openFiles.isEmpty)
    }
}
