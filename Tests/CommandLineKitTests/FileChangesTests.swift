import Foundation
import HandoffTestKit
import Testing

@testable import CommandLineKit

@Suite("The changes of a JSON file", .timeLimit(.minutes(1)))
struct FileChangesTests {
    @Test("are heard of, whether it is made, replaced, written over or removed")
    func changes() async throws {
        let directory = FileManager.default.temporaryDirectory.appending(path: "changes-\(UUID())").path
        defer { try? FileManager.default.removeItem(atPath: directory) }
        let file = JSONFile<[String]>("list.json", in: directory)
        let path = directory + "/list.json"
        let deeds: [() throws -> Void] = [
            { try file.update(from: []) { $0 = ["a"] } }, { try file.update(from: []) { $0 = ["b"] } },
            { try Data("[]".utf8).write(to: URL(filePath: path)) }, { unlink(path) },
        ]
        for deed in deeds {
            var changes = try file.changes().makeAsyncIterator()
            try deed()
            #expect(await changes.next() != nil)
        }
    }
}
