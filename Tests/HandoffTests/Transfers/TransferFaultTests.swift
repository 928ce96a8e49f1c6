import Foundation
import HandoffSupport
import Testing

@testable import Handoff

@Suite("A transfer in hardship", .serialized)
struct TransferFaultTests {
    private let directory: TransferDirectory

    init() throws {
        directory = try TransferDirectory()
    }

    @Test("names the disk that is full, keeps what came, and goes on when there is room", .enabled(if: geteuid() == 0))
    func diskFull() async throws {
        try await directory.withSmallDisk(mebibytes: 4) { path in
            let content = makeContent(3 << 20)
            let digest = digest(content)
            let file = try await IncomingFile.open(path + "/file", size: Int64(content.count), digest: digest)
            // There is room when it begins, and none later.
            _ = try await file.resumePoint()
            try Data(count: 2 << 20).write(to: URL(fileURLWithPath: path + "/other"))
            let piece = 256 << 10
            let error = await #expect(throws: TransferError.self) {
                for start in stride(from: 0, to: content.count, by: piece) {
                    try await file.append(Array(content[start..<start + piece]))
                }
            }
            #expect(error?.code == .diskFull)
            #expect(error?.description.contains(path) == true)
            #expect((1...2 << 20).contains(error?.missingBytes ?? 0))
            let kept = try await file.resumePointOrOffset()
            #expect(kept > 1 << 20)
            await file.close()
            // Another try is told at once, and loses nothing.
            let again = try await IncomingFile.open(path + "/file", size: Int64(content.count), digest: digest)
            #expect(await transferCode { try await again.resumePoint() } == .diskFull)
            try FileManager.default.removeItem(atPath: path + "/other")
            let point = try await again.resumePoint()
            #expect(point.offset >= kept)
            #expect(point.digest == HandoffTests.digest(Array(content[..<Int(point.offset)])))
            try await again.append(Array(content[Int(point.offset)...]))
            try await again.commit()
            #expect(try Array(Data(contentsOf: URL(fileURLWithPath: path + "/file"))) == content)
        }
    }

    @Test("lets the same bytes be given again after the disk was full", .enabled(if: geteuid() == 0))
    func retriesAppend() async throws {
        try await directory.withSmallDisk(mebibytes: 2) { path in
            let content = makeContent(3 << 19)
            let file = try await IncomingFile.open(path + "/file", size: Int64(content.count), digest: digest(content))
            try await file.append(Array(content[..<1_000]))
            try Data(count: 1 << 20).write(to: URL(fileURLWithPath: path + "/other"))
            #expect(await transferCode { try await file.append(Array(content[1_000...])) } == .diskFull)
            try FileManager.default.removeItem(atPath: path + "/other")
            try await file.append(Array(content[1_000...]))
            try await file.commit()
            #expect(try Array(Data(contentsOf: URL(fileURLWithPath: path + "/file"))) == content)
        }
    }

    @Test("of a file of 5 GiB without content counts in 64 bits")
    func sparse() async throws {
        let path = directory.path + "/sparse"
        let size: Int64 = 5 << 30
        try Data().write(to: URL(fileURLWithPath: path))
        try #require(truncate(path, Int(size)) == 0)
        let handle = try FileHandle(forUpdating: URL(fileURLWithPath: path))
        try handle.seek(toOffset: UInt64(size - 3))
        try handle.write(contentsOf: Data([1, 2, 3]))
        try handle.close()
        let file = try await OutgoingFile.open(path)
        #expect(file.size == size)
        #expect(try await file.read(1 << 20, at: size - 5) == [0, 0, 1, 2, 3])
        #expect(try await file.read(2, at: 1 << 32) == [0, 0])
    }

    @Test(
        "of a file of 5 GiB arrives whole",
        .enabled(if: ProcessInfo.processInfo.environment["HANDOFF_LONG_TESTS"] == "1")
    )
    func longFile() async throws {
        let path = directory.path + "/sparse"
        try Data([1]).write(to: URL(fileURLWithPath: path))
        try #require(truncate(path, 5 << 30) == 0)
        let source = try await OutgoingFile.open(path)
        let file = try await IncomingFile.open(directory.target, size: source.size, digest: source.digest())
        var offset: Int64 = 0
        while offset < source.size {
            let bytes = try await source.read(1 << 20, at: offset)
            try await file.append(bytes)
            offset += Int64(bytes.count)
        }
        try await file.commit()
        #expect(try await OutgoingFile.open(directory.target).digest() == source.digest())
    }
}

extension IncomingFile {
    /// How much is here, where there may be no room for the rest.
    fileprivate func resumePointOrOffset() throws -> Int64 {
        do {
            return try resumePoint().offset
        } catch let error as TransferError where error.code == .diskFull {
            return try FileStatus.of(IncomingFile.partialPath(for: digest, target: target))?.size ?? 0
        }
    }
}
