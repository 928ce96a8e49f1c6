import CommandLineKit
import Handoff
import HandoffTestKit
import Testing

@testable import Notes

@Suite("notes.json")
struct NotesConfigurationTests {
    private func read(_ text: String?) throws -> NotesConfiguration {
        try withTemporaryDirectory { directory in
            if let text { try writeFile(directory + "/notes.json", mode: 0o600, Array(text.utf8)) }
            return try NotesConfiguration(in: directory)
        }
    }

    @Test("Without the file, and in one that says nothing of it, every paired peer may send")
    func byDefault() throws {
        #expect(try read(nil).accept == .anyPeer)
        #expect(try read("{}").accept == .anyPeer)
    }

    @Test("says from whom notes are taken")
    func policies() throws {
        #expect(try read(#"{"accept": "any"}"#).accept == .anyPeer)
        #expect(try read(#"{"accept": "never"}"#).accept == .never)
        #expect(try read(#"{"accept": ["kitchen", "b"]}"#).accept == .named(["kitchen", "b"]))
        #expect(try read(#"{"accept": []}"#).accept == .named([]))
    }

    @Test("says where to look for peers besides")
    func peers() throws {
        #expect(try read("{}").peers.isEmpty)
        let configuration = try read(#"{"peers": ["kitchen", "[fe80::1%eth0]:24281"], "accept": "never"}"#)
        #expect(configuration.peers.map(\.description) == ["kitchen", "[fe80::1%eth0]:24281"])
        #expect(configuration.accept == .never)
    }

    @Test("says whether radios are used, which they are not by themselves")
    func radio() throws {
        #expect(try !read("{}").radio)
        #expect(try read(#"{"radio": true}"#).radio)
    }

    @Test(
        "that says something else is an error, and never means that everybody may send",
        arguments: [
            #"{"accept": "nobody"}"#, #"{"accept": true}"#, #"{"acept": "never"}"#, "", "[]", #"{"accept": [1]}"#,
            #"{"radio": 1}"#, #"{"peers": "kitchen"}"#, #"{"peers": ["kitchen:0"]}"#,
            #"{"peers": ["1","2","3","4","5","6","7","8","9"]}"#,
        ]
    )
    func nonsense(text: String) {
        #expect(throws: CommandFailure.self) { try read(text) }
    }
}
