import Foundation
import HandoffSupport
import HandoffTransport
import Testing

@testable import Handoff

/// A directory for one test, removed with everything in it.
final class TransferDirectory: Sendable {
    let path: String

    init() throws {
        var template = Array("\(FileManager.default.temporaryDirectory.path)/transfer-XXXXXX".utf8CString)
        path = try String(cString: #require(mkdtemp(&template)))
    }

    deinit {
        try? FileManager.default.removeItem(atPath: path)
    }

    var target: String { path + "/file" }

    /// Makes a file and gives its path.
    func file(_ name: String, _ content: [UInt8]) throws -> String {
        try Data(content).write(to: URL(fileURLWithPath: "\(path)/\(name)"))
        return "\(path)/\(name)"
    }

    func content(of name: String = "file") throws -> [UInt8] {
        try Array(Data(contentsOf: URL(fileURLWithPath: "\(path)/\(name)")))
    }

    /// All names in it, hidden ones too.
    var names: [String] {
        get throws { try FileManager.default.contentsOfDirectory(atPath: path).sorted() }
    }

    /// The paths in it that this process has open.
    var openFiles: [String] {
        get throws {
            try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").compactMap {
                try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\($0)")
            }
            .filter { $0.hasPrefix(path + "/") }
        }
    }

    /// Begins to receive some content.
    func receive(_ content: [UInt8], replacing: Bool = false) async throws -> IncomingFile {
        try await IncomingFile.open(
            target,
            size: Int64(content.count),
            digest: digest(content),
            replacesTarget: replacing
        )
    }

    /// Runs a test on a file system of a few MiB of its own.
    func withSmallDisk(mebibytes: Int, _ body: (_ path: String) async throws -> Void) async throws {
        let path = self.path + "/disk"
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
        try run("/bin/mount", "-t", "tmpfs", "-o", "size=\(mebibytes)m", "none", path)
        do {
            try await body(path)
        } catch {
            try run("/bin/umount", path)
            throw error
        }
        try run("/bin/umount", path)
    }

    private func run(_ program: String, _ arguments: String...) throws {
        let process = try Process.run(URL(fileURLWithPath: program), arguments: arguments)
        process.waitUntilExit()
        try #require(process.terminationStatus == 0)
    }

    /// Leaves a partial file, as a transfer does that was killed.
    func leavePartial(of content: [UInt8], _ left: [UInt8]) throws {
        try Data(left).write(to: URL(fileURLWithPath: IncomingFile.partialPath(for: digest(content), target: target)))
    }
}

func digest(_ content: [UInt8]) -> ContentDigest {
    var hasher = SHA256()
    content.withUnsafeBytes { hasher.update($0) }
    return hasher.digest
}

/// Content in which no two parts are the same.
func makeContent(_ count: Int) -> [UInt8] {
    var state: UInt64 = 0x9E37_79B9
    var content = [UInt8](repeating: 0, count: (count + 7) / 8 * 8)
    content.withUnsafeMutableBytes { bytes in
        for offset in stride(from: 0, to: bytes.count, by: 8) {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            bytes.storeBytes(of: state, toByteOffset: offset, as: UInt64.self)
        }
    }
    return Array(content.prefix(count))
}

/// The same in MiB, quickly: each of them is told from the others by its first byte.
func makeContent(mebibytes: UInt8) -> [UInt8] {
    let piece = makeContent(1 << 20)
    return (0..<mebibytes).reduce(into: []) { content, number in
        content += piece
        content[content.count - piece.count] = number
    }
}

/// The code of the error that a call throws.
func transferCode<Result>(
    sourceLocation: SourceLocation = #_sourceLocation,
    of body: () async throws -> Result
) async -> TransferError.Code? {
    let error = await #expect(throws: TransferError.self, sourceLocation: sourceLocation) { _ = try await body() }
    return error?.code
}
