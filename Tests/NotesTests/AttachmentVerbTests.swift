import Foundation
import Testing

@Suite("Attachments on the command line", .timeLimit(.minutes(1)))
struct AttachmentVerbTests {
    private let notes: NotesCommand

    init() throws {
        notes = try NotesCommand()
        #expect(try notes("new", "T", "--content", "text").code == 0)
    }

    private struct Listed: Decodable, Equatable {
        let name: String
        let size: Int64
        let sha256: String
        let state: String
        let present: Int64
    }

    private func file(_ name: String, _ content: String) throws -> String {
        let path = "\(notes.home)/\(name)"
        try Data(content.utf8).write(to: URL(fileURLWithPath: path))
        return path
    }

    private func listed() throws -> [Listed] {
        try JSONDecoder().decode([Listed].self, from: notes("attachments", "T", "--json").bytes)
    }

    private static let hello = "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824"

    @Test("are attached, listed, saved to a file and taken away")
    func life() throws {
        let attached = try notes("attach", "T", file("a.txt", "hello"), file("b.txt", ""))
        #expect((attached.code, attached.output, attached.complaint) == (0, "", ""))
        let expected = [
            Listed(name: "a.txt", size: 5, sha256: Self.hello, state: "here", present: 5),
            Listed(
                name: "b.txt",
                size: 0,
                sha256: "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
                state: "here",
                present: 0
            ),
        ]
        #expect(try listed() == expected)
        #expect(try notes("attachments", "T").output.contains("a.txt   5 B  here   2cf24dba5fb0\n"))
        #expect(try notes("list").output.contains("FILES"))
        let shown = try notes("show", "T", "--json").output
        #expect(shown.contains(#""attachments":[{"name":"a.txt","sha256":"\#(Self.hello)","size":5}"#))
        #expect(try notes("show", "T").output == "text")

        let saved = try notes("save-attachment", "T", "2cf2", "-o", notes.home + "/out")
        #expect((saved.code, saved.output) == (0, notes.home + "/out\n"))
        #expect(try String(contentsOfFile: notes.home + "/out", encoding: .utf8) == "hello")
        #expect(try notes("detach", "T", "a.txt").code == 0)
        #expect(try listed().map(\.name) == ["b.txt"])
        #expect(try notes("save-attachment", "T", "a.txt").code == 1)
    }

    @Test("are saved to a directory under their names, and never over a file unless that is wanted")
    func overwriting() throws {
        #expect(try notes("attach", "T", file(".profile", "hello")).code == 0)
        let directory = notes.home + "/out"
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: false)
        let saved = try notes("save-attachment", "T", ".profile", "--output", directory)
        #expect((saved.code, saved.output) == (0, directory + "/_profile\n"))
        try Data("mine".utf8).write(to: URL(fileURLWithPath: directory + "/_profile"))
        let refused = try notes("save-attachment", "T", ".profile", "--output", directory)
        #expect(refused.code == 1)
        #expect(refused.complaint.contains("_profile exists") && refused.complaint.contains("--force"))
        #expect(try String(contentsOfFile: directory + "/_profile", encoding: .utf8) == "mine")
        #expect(try notes("save-attachment", "T", ".profile", "--output", directory, "--force").code == 0)
        #expect(try String(contentsOfFile: directory + "/_profile", encoding: .utf8) == "hello")
        #expect(try FileManager.default.contentsOfDirectory(atPath: directory) == ["_profile"])
    }

    @Test("tell programs what was attached, one object a line")
    func events() throws {
        let result = try notes("attach", "T", file("a.txt", "hello"), "--json")
        let expected = #"{"event":"attached","name":"a.txt","sha256":"\#(Self.hello)","size":5}"# + "\n"
        #expect((result.code, result.output) == (0, expected))
    }

    @Test(
        "are refused with one clear line where they cannot be attached",
        arguments: [
            (["attach", "T"], 2, "say which file"),
            (["attach", "T", "/nothing"], 1, "cannot open /nothing: No such file"),
            (["attach", "T", "/dev/zero"], 1, "is not a file with content"),
            (["attach", "T", "/usr"], 1, "is not a file with content"),
            (["attach", "nothing", "/etc/hostname"], 1, "no note has"),
            (["detach", "T", "nothing"], 1, "has no attachment “nothing”"),
            (["save-attachment", "T", "nothing"], 1, "has no attachment “nothing”"),
        ] as [([String], Int32, String)]
    )
    func refused(arguments: [String], code: Int32, complaint: String) throws {
        let result = try notes.shell("notes " + arguments.joined(separator: " "))
        #expect((result.code, result.output) == (code, ""))
        #expect(result.complaint.contains(complaint), "\(result.complaint)")
        #expect(try listed().isEmpty)
    }

    @Test("say that there are none")
    func none() throws {
        let result = try notes("attachments", "T")
        #expect((result.code, result.output) == (0, ""))
        #expect(result.complaint.contains("notes attach"))
    }
}
