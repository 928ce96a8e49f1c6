import Foundation
import HandoffSupport
import HandoffTestKit
import Testing

@Suite("Files that several programs share")
struct FileReplacementTests {
    private func withDirectory(_ body: (String) async throws -> Void) async throws {
        let directory = "\(FileManager.default.temporaryDirectory.path)/handoff-files-\(UUID().uuidString)"
        try Directory.makePrivate(directory)
        defer { try? FileManager.default.removeItem(atPath: directory) }
        try await body(directory)
    }

    private func file(_ text: String) -> PrivateFile {
        PrivateFile(name: "value", isSecret: true, bytes: Array(text.utf8))
    }

    @Test("are replaced as a whole, whatever a killed process has left, and each change is told")
    func replaced() async throws {
        try await withDirectory { directory in
            let changes = try DirectoryChanges(in: [directory])
            try Directory.replace(file("one"), in: directory)
            try await changes.next()
            try Data("half of".utf8).write(to: URL(fileURLWithPath: "\(directory)/value.new"))
            try Directory.replace(file("two"), in: directory)
            try await changes.next()
            #expect(try String(contentsOfFile: "\(directory)/value", encoding: .utf8) == "two")
            #expect(try Directory.names(in: directory) == ["value"])
            let mode = try FileManager.default.attributesOfItem(atPath: "\(directory)/value")[.posixPermissions] as? Int
            #expect(mode == 0o600)
        }
    }

    @Test("are changed by one at a time, and no change is lost")
    func locked() async throws {
        try await withDirectory { directory in
            try Directory.replace(file("0"), in: directory)
            await withTaskGroup(of: Void.self) { group in
                for _ in 0..<4 {
                    group.addTask {
                        for _ in 0..<10 {
                            try? Directory.whileLocked(directory) {
                                let text = try String(contentsOfFile: "\(directory)/value", encoding: .utf8)
                                try Directory.replace(file("\((Int(text) ?? 0) + 1)"), in: directory)
                            }
                        }
                    }
                }
            }
            #expect(try String(contentsOfFile: "\(directory)/value", encoding: .utf8) == "40")
        }
    }

    @Test("are not watched where there is no directory")
    func missing() {
        #expect(throws: SystemError.self) { try DirectoryChanges(in: ["/does/not/exist"]) }
    }
}
