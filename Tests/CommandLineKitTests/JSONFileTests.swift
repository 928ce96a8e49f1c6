import Foundation
import HandoffTestKit
import Testing

@testable import CommandLineKit

@Suite("A JSON file")
struct JSONFileTests {
    @Test("keeps what it was changed to, for its user alone")
    func keeps() throws {
        try withTemporaryDirectory { directory in
            let file = JSONFile<[String]>("list.json", in: directory + "/new/data")
            #expect(try file.read() == nil)
            let removed = try file.update(from: ["a", "Ä/🍏"]) { $0.removeFirst() }
            #expect(removed == "a")
            try file.update(from: []) { $0.append("c") }
            #expect(try file.read() == ["Ä/🍏", "c"])
            let manager = FileManager.default
            for (path, mode) in [("/new/data", 0o700), ("/new/data/list.json", 0o600)] {
                #expect(try manager.attributesOfItem(atPath: directory + path)[.posixPermissions] as? Int == mode)
            }
            #expect(try manager.contentsOfDirectory(atPath: directory + "/new/data") == ["list.json"])
        }
    }

    @Test("stays as it is where a change fails, and takes the place of what a killed process left")
    func failures() throws {
        try withTemporaryDirectory { directory in
            let file = JSONFile<[String]>("list.json", in: directory)
            try file.update(from: []) { $0 = ["a"] }
            #expect(throws: CancellationError.self) {
                try file.update(from: []) {
                    $0 = ["b"]
                    throw CancellationError()
                }
            }
            #expect(try file.read() == ["a"])
            try writeFile(directory + "/list.json.new", mode: 0o644, Array("half".utf8))
            try file.update(from: []) { $0 = ["c"] }
            #expect(try file.read() == ["c"])
        }
    }

    @Test("that is damaged is neither read nor replaced", arguments: ["", "{", "{\"a\":1}", "[1]"])
    func damaged(text: String) throws {
        try withTemporaryDirectory { directory in
            try writeFile(directory + "/list.json", mode: 0o600, Array(text.utf8))
            let file = JSONFile<[String]>("list.json", in: directory)
            #expect(throws: CommandFailure.self) { try file.read() }
            #expect(throws: CommandFailure.self) { try file.update(from: []) { $0 = ["new"] } }
            #expect(try String(contentsOfFile: directory + "/list.json", encoding: .utf8) == text)
        }
    }

    @Test("loses no change of those who change it at once")
    func concurrent() async throws {
        let directory = FileManager.default.temporaryDirectory.path + "/" + UUID().uuidString
        defer { try? FileManager.default.removeItem(atPath: directory) }
        let file = JSONFile<[Int]>("list.json", in: directory)
        try await withThrowingDiscardingTaskGroup { group in
            for number in 0..<20 { group.addTask { try file.update(from: []) { $0.append(number) } } }
        }
        #expect(try file.read()?.sorted() == Array(0..<20))
    }
}
