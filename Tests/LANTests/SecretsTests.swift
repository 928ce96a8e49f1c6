import Foundation
import HandoffModel
import HandoffSupport
import HandoffTestKit
import Testing

extension NetworkTests {
    @Suite("Secrets")
    struct SecretsTests {
        private static let passphrase = "correct horse battery"

        /// All that was printed, and the arguments of all processes there were at some moments.
        private final class Witness: Sendable {
            private let printed = LockedBox<[UInt8]>([])
            private let seen = LockedBox<Set<[UInt8]>>([])
            var outputs: [UInt8] { printed.withLock { $0 } }
            var arguments: [UInt8] { seen.withLock { Array($0.joined(separator: [0x0A])) } }

            func note(_ outcome: Outcome) {
                #expect(outcome.status == 0, "\(outcome)")
                printed.withLock { $0 += Array(outcome.description.utf8) }
            }

            /// Any process may end while it is looked at.
            func lookAtProcesses() throws {
                for process in try FileManager.default.contentsOfDirectory(atPath: "/proc") where Int(process) != nil {
                    guard let line = FileManager.default.contents(atPath: "/proc/\(process)/cmdline") else { continue }
                    seen.withLock { _ = $0.insert(Array(line)) }
                }
            }
        }

        @Test("are in no output, log, argument or file that others may read, whatever is done")
        func nowhere() async throws {
            try await Lab.with(hosts: 3) { lab in
                // Whoever gets into these directories must come to nothing.
                for host in ["a", "b", "c"] {
                    for name in ["", "/handoff", "/home"] { try lab.open("\(lab.directory)/\(host)\(name)") }
                }
                let witness = Witness()
                witness.note(try await lab.run("a", "handoff", "account", "create", "--name", "Ada"))
                let code = try await enrol("b", in: lab, witness)

                let (a, b) = (NotesHost("a", in: lab), NotesHost("b", in: lab))
                let peers = try await [a, b].asyncMap { try await $0.startPeer() }
                for host in [a, b] { try await host.awaitPeers(1) }
                let editor = try ScriptedEditor(in: lab)
                let edit = try a.edit("--new", "Groceries", with: editor)
                try editor.write("milk")
                try await b.awaitOffers("Groceries")
                witness.note(try await b.run("continue", "--json"))
                try witness.lookAtProcesses()
                editor.quit()
                witness.note(try await edit.outcome())
                let large = String(repeating: "milk ", count: 20_000)
                witness.note(
                    try await b.run("send", try await b.make("Long", large), "--to", "a", "--json", "--verbose")
                )
                for host in ["a", "b"] {
                    witness.note(try await lab.run(host, "handoff", "account", "show", "--json"))
                    witness.note(try await lab.run(host, "handoff", "discover", "--json", "--verbose"))
                }
                witness.note(try await lab.run("a", "handoff", "doctor", "--json"))

                let backup = "\(lab.directory)/backup.pem"
                try await say(Self.passphrase, to: ["account", "backup", backup], on: "a", in: lab, witness)
                try await say(Self.passphrase, to: ["account", "restore", backup], on: "c", in: lab, witness)
                // Where XDG says, too.
                for command in [["handoff", "account", "create"], ["notes", "new", "Elsewhere"]] {
                    let program = ["env", "-u", "HANDOFF_HOME", "\(Lab.products)/\(command[0])"]
                    let started = try lab.launch(["Tests/lan/lab", "exec", "b"] + program + command.dropFirst())
                    witness.note(try await started.outcome())
                }
                let wrong = try lab.converse("c", "handoff", "account", "restore", backup)
                wrong.type("wrong \(Self.passphrase)")
                let refusal = try await wrong.outcome()
                #expect(refusal.status == 1)
                for peer in peers {
                    peer.interrupt()
                    witness.note(try await peer.outcome())
                }

                let secrets = try Traces(
                    texts: privateKeys(in: lab) + [Self.passphrase],
                    bytes: [lab.discoveryKey(of: "a")]
                )
                let codes = Traces(
                    texts: [code, code.filter { $0 != "-" }],
                    bytes: [try InvitationCode(typed: code).bytes]
                )
                let printed = witness.outputs + Array(refusal.description.utf8)
                #expect(secrets.found(in: printed) == [])
                #expect(codes.found(in: printed) == [])
                #expect(secrets.found(in: witness.arguments) == [])
                #expect(codes.found(in: witness.arguments) == [])
                // What is known to be there is found.
                #expect(Traces(texts: ["Groceries"]).found(in: printed) == ["Groceries"])
                #expect(Traces(texts: ["--verbose"]).found(in: witness.arguments) == ["--verbose"])
                #expect(try open(in: lab, holding: secrets, codes) == [])
                for name in ["", "/identity"] { try lab.open("\(lab.directory)/a/handoff/config\(name)") }
                let certificates = ["account.pem", "certificate.pem"].map { "a/handoff/config/identity/\($0)" }
                #expect(try open(in: lab, holding: secrets, codes) == certificates)
            }
        }

        /// Lets a host join, and gives the code, which is only in what `invite` prints on purpose.
        private func enrol(_ host: String, in lab: Lab, _ witness: Witness) async throws -> String {
            let invitation = try await AccountTests.Invitation(on: "a", in: lab)
            let join = try lab.converse(host, "handoff", "account", "join", "--peer", "10.77.0.1")
            try witness.lookAtProcesses()
            join.type(invitation.code)
            try witness.lookAtProcesses()
            witness.note(try await join.outcome())
            let invited = try await invitation.command.outcome()
            #expect(invited.output.hasPrefix(invitation.code + "\n"))
            let rest = invited.output.dropFirst(invitation.code.count)
            witness.note(Outcome(status: invited.status, output: String(rest), errors: invited.errors))
            return invitation.code
        }

        private func say(
            _ text: String,
            to verb: [String],
            on host: String,
            in lab: Lab,
            _ witness: Witness
        ) async throws {
            let command = try lab.converse(host, ["handoff"] + verb)
            command.type(text)
            try witness.lookAtProcesses()
            witness.note(try await command.outcome())
        }

        /// The base64 lines of all private keys.
        private func privateKeys(in lab: Lab) throws -> [String] {
            let keys = [
                "a/handoff/config/account/account.key", "a/handoff/config/identity/key.pem",
                "b/handoff/config/identity/key.pem", "c/handoff/config/account/account.key",
            ]
            return try keys.flatMap { key in
                try String(contentsOfFile: "\(lab.directory)/\(key)", encoding: .utf8)
                    .split(separator: "\n").filter { !$0.hasPrefix("-") && $0.count > 15 }.map(String.init)
            }
        }

        /// What of ours other users can read, or connect to; a file of the lab's own that holds a secret is there too.
        private func open(in lab: Lab, holding traces: Traces...) throws -> [String] {
            let files = try #require(FileManager.default.enumerator(atPath: lab.directory))
            var open: [String] = []
            while let name = files.nextObject() as? String {
                let path = "\(lab.directory)/\(name)"
                let attributes = try FileManager.default.attributesOfItem(atPath: path)
                let type = attributes[.type] as? FileAttributeType
                guard let mode = attributes[.posixPermissions] as? Int, mode & 0o077 != 0 else {
                    // Nobody else comes to what is below.
                    if type == .typeDirectory { files.skipDescendants() }
                    continue
                }
                guard type != .typeDirectory, type != .typeSymbolicLink else { continue }
                let isOurs = name.contains("/handoff/") || name.contains("/home/")
                let bytes = type == .typeRegular ? Array(FileManager.default.contents(atPath: path) ?? Data()) : []
                if isOurs || traces.contains(where: { !$0.found(in: bytes).isEmpty }) { open.append(name) }
            }
            return open.sorted()
        }
    }
}

extension Lab {
    /// The discovery key of a host's identity.
    func discoveryKey(of host: String) throws -> [UInt8] {
        let text = try String(contentsOfFile: "\(identity(of: host))/discovery.key", encoding: .utf8)
        return try #require(BaseEncoding.decodeHexadecimal(text.filter { $0 != "\n" }))
    }

    /// Lets other users enter a directory.
    fileprivate func open(_ directory: String) throws {
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: directory)
    }
}
