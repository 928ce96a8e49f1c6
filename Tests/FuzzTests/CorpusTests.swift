import Foundation
import FuzzTargets
import Testing

/// The fuzzer's corpus: what its decoders' own encoders write, and whatever input once broke a rule (`Tests/fuzz`).
@Suite("The fuzzer's corpus", .serialized)
struct CorpusTests {
    private static let directory = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().appending(path: "fuzz/corpus")

    private static func files(of target: FuzzTarget) throws -> [URL] {
        try FileManager.default.contentsOfDirectory(
            at: directory.appending(path: target.rawValue),
            includingPropertiesForKeys: nil
        )
    }

    @Test("Each kind of what our own encoders write is there", .enabled(if: Seeds.areWritten))
    func written() throws {
        for (target, seeds) in try Seeds.all() {
            let directory = Self.directory.appending(path: target.rawValue)
            try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
            for (name, bytes) in seeds {
                try target.check(bytes)
                try Data(bytes).write(to: directory.appending(path: name))
            }
        }
    }

    @Test("There is a directory for each target, and for nothing else")
    func targets() throws {
        let names = try FileManager.default.contentsOfDirectory(atPath: Self.directory.path)
        #expect(names.sorted() == FuzzTarget.allCases.map(\.rawValue).sorted())
    }

    @Test("Each input keeps the rules, and so does each of its beginnings", arguments: FuzzTarget.allCases)
    func replay(_ target: FuzzTarget) throws {
        let files = try Self.files(of: target)
        #expect(!files.isEmpty)
        for file in files {
            let bytes = try Array(Data(contentsOf: file))
            // All beginnings of what is short, some of what is not.
            let step = max(1, bytes.count / 64)
            for count in Array(stride(from: 0, to: bytes.count, by: step)) + [bytes.count] {
                #expect(throws: Never.self, "\(file.lastPathComponent)") {
                    try target.check(Array(bytes.prefix(count)))
                }
            }
        }
    }
}
