import Foundation
import Glibc
import HandoffSupport
import HandoffTestKit
import NotesKit

/// The notes app of one user on one host of a lab.
struct NotesHost: Sendable {
    let lab: Lab
    let name: String
    /// What is `HANDOFF_HOME` there.
    let home: String

    init(_ name: String, in lab: Lab, home: String = "handoff") {
        self.lab = lab
        self.name = name
        self.home = "\(lab.directory)/\(name)/\(home)"
    }

    /// A second `HANDOFF_HOME` on this host, with the same identity.
    func beside(_ home: String) throws -> NotesHost {
        let other = NotesHost(name, in: lab, home: home)
        try FileManager.default.createDirectory(
            atPath: other.home + "/config",
            withIntermediateDirectories: true,
            attributes: [.posixPermissions: 0o700]
        )
        try FileManager.default.copyItem(atPath: lab.identity(of: name), toPath: other.home + "/config/identity")
        return other
    }

    /// Starts `notes` with these arguments.
    func start(_ arguments: String..., variables: [String: String] = [:]) throws -> RunningCommand {
        try start(arguments, variables)
    }

    /// Runs `notes` with these arguments to its end.
    @discardableResult
    func run(_ arguments: String..., variables: [String: String] = [:]) async throws -> Outcome {
        try await start(arguments, variables).outcome()
    }

    /// Runs `notes` with these arguments to its end.
    func run(_ arguments: [String]) async throws -> Outcome { try await start(arguments, [:]).outcome() }

    /// Starts the peer and waits until it is one.
    @discardableResult
    func startPeer(_ options: String...) async throws -> RunningCommand {
        let peer = try start(["run", "--verbose"] + options, [:])
        try await peer.line(holding: "notes is running as")
        return peer
    }

    /// Edits a note in an editor that a test controls.
    func edit(_ arguments: String..., with editor: ScriptedEditor) throws -> RunningCommand {
        try start(["edit"] + arguments, ["EDITOR": editor.command])
    }

    /// Makes a note and gives its id.
    func make(_ title: String, _ content: String = "") async throws -> String {
        try await succeed("new", title, "--content", content)
    }

    /// Gives a note another text, by way of an editor that is closed at once.
    func rewrite(_ note: String, _ content: String) async throws {
        let editor = try ScriptedEditor(in: lab)
        try editor.write(content)
        editor.quit()
        let outcome = try await edit(note, with: editor).outcome()
        guard outcome.status == 0 else { throw CommandProblem(description: "edit on \(name): \(outcome)") }
    }

    /// A note's text, byte for byte; nil where there is no such note.
    func text(of note: String) async throws -> String? {
        let outcome = try await run("show", note)
        return outcome.status == 0 ? outcome.output : nil
    }

    /// The titles of all notes.
    func titles() async throws -> [String] {
        try await succeed("list", "--titles").split(separator: "\n").map(String.init).sorted()
    }

    /// Runs a command that has to succeed, and gives what it printed, without the newline at its end.
    @discardableResult
    func succeed(_ arguments: String...) async throws -> String {
        let outcome = try await start(arguments, [:]).outcome()
        guard outcome.status == 0 else {
            throw CommandProblem(description: "notes \(arguments.joined(separator: " ")) on \(name): \(outcome)")
        }
        return outcome.output.hasSuffix("\n") ? String(outcome.output.dropLast()) : outcome.output
    }

    /// Continues, and tells what came of it.
    func continueNote(_ options: String...) async throws -> ContinueReport {
        let outcome = try await start(["continue", "--json"] + options, [:]).outcome()
        guard outcome.status == 0 else { throw CommandProblem(description: "continue on \(name): \(outcome)") }
        return try JSONDecoder().decode(ContinueReport.self, from: Data(outcome.output.utf8))
    }

    /// What the running peer tells of itself; nil where none runs.
    func status() async throws -> StatusReport? {
        guard case .status(let report) = try await ask(.status) else { return nil }
        return report
    }

    /// The name that the running peer is announced by; a peer can have links before it is announced.
    func announcedName() async throws -> String {
        var name: String?
        _ = try await eventually {
            name = try await status()?.service
            return name != nil
        }
        guard let name else { throw CommandProblem(description: "the peer on \(self.name) was never announced") }
        return name
    }

    /// The titles of what the other peers offer, nearest first; nil where no peer runs here.
    func offers() async throws -> [ActivityReport]? {
        guard case .activities(let reports) = try await ask(.activities) else { return nil }
        return reports.filter { $0.peer != nil }
    }

    /// Waits until the peer here has links to so many others, and only those.
    func awaitPeers(_ count: Int, within limit: Duration = .seconds(20)) async throws {
        guard try await eventually(within: limit, { try await status()?.peers.count == count }) else {
            throw CommandProblem(
                description: "\(name) has not \(count) peers: \(String(describing: try await status()))"
            )
        }
    }

    /// Waits until the others offer this, and nothing else.
    func awaitOffers(_ titles: String..., within limit: Duration = .seconds(20)) async throws {
        guard try await eventually(within: limit, { try await offers()?.map(\.title).sorted() == titles.sorted() })
        else {
            throw CommandProblem(
                description: "\(name) is not offered \(titles): \(String(describing: try await offers()))"
            )
        }
    }

    /// Asks the running peer; sockets with a path do not belong to a host's network.
    func ask(_ request: ControlRequest) async throws -> ControlReply? {
        try await ControlClient.connect(to: "\(home)/run/notes.socket")?.request(request)
    }

    /// What the running peer uses.
    func usage() async throws -> (descriptors: Int, kibibytes: Int) {
        guard let pid = try await status()?.pid else { throw CommandProblem(description: "no peer runs on \(name)") }
        let status = try String(contentsOfFile: "/proc/\(pid)/status", encoding: .utf8)
        guard let resident = status.firstMatch(of: /VmRSS:\s+(\d+) kB/), let kibibytes = Int(resident.1) else {
            throw CommandProblem(description: "the system does not say how large \(pid) is")
        }
        let descriptors = try FileManager.default.contentsOfDirectory(atPath: "/proc/\(pid)/fd").count
        return (descriptors, kibibytes)
    }

    /// Sends the running peer a signal.
    func signalPeer(_ signal: CInt) async throws {
        guard let report = try await status() else { throw CommandProblem(description: "no peer runs on \(name)") }
        kill(report.pid, signal)
    }

    private func start(_ arguments: [String], _ variables: [String: String]) throws -> RunningCommand {
        let settings = variables.merging(["HANDOFF_HOME": home]) { $1 }.map { "\($0.key)=\($0.value)" }
        return try lab.launch(
            ["Tests/lan/lab", "exec", name, "env"] + settings + ["\(Lab.products)/notes"] + arguments
        )
    }
}

extension Lab {
    /// Makes a lab whose hosts have identities of one account and team.
    static func withNotes(hosts: Int, _ test: ([NotesHost]) async throws -> Void) async throws {
        try await with(hosts: hosts) { lab in
            let names = "abcdefgh".prefix(hosts).map { String($0) }
            for name in names { try await lab.enrol(name) }
            try await test(names.map { NotesHost($0, in: lab) })
        }
    }

    /// The same, with a running peer on each host, linked to all the others.
    static func withPeers(hosts: Int, _ test: ([NotesHost]) async throws -> Void) async throws {
        try await withNotes(hosts: hosts) { hosts in
            for host in hosts { try await host.startPeer() }
            for host in hosts { try await host.awaitPeers(hosts.count - 1) }
            try await test(hosts)
        }
    }
}

/// An editor without a terminal, which does what a test tells it.
final class ScriptedEditor: Sendable {
    /// What `EDITOR` is set to.
    let command: String
    private let commands: FileDescriptor
    private let versions = LockedBox(0)

    init(in lab: Lab) throws {
        command = "\(lab.directory)/editor-\(UUID().uuidString)"
        let pipe = command + ".commands"
        guard mkfifo(pipe, 0o600) == 0 else { throw SystemError("make \(pipe)", code: errno) }
        // Open for both, here and there, so that neither end waits for the other, nor misses what was written.
        let number = open(pipe, O_RDWR | O_CLOEXEC)
        guard number >= 0 else { throw SystemError("open \(pipe)", code: errno) }
        commands = FileDescriptor(owning: number)
        let script = """
            #!/bin/sh
            while read -r text <&3; do
                [ "$text" != quit ] || exit 0
                cat "$text" >"$1"
            done 3<>'\(pipe)'
            """
        try Data(script.utf8).write(to: URL(fileURLWithPath: command))
        try FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: command)
    }

    /// Writes a text into the file that is edited.
    func write(_ text: String) throws {
        let version = versions.withLock { version in
            version += 1
            return version
        }
        let file = "\(command).\(version)"
        try Data(text.utf8).write(to: URL(fileURLWithPath: file))
        tell(file)
    }

    /// Closes the editor.
    func quit() { tell("quit") }

    private func tell(_ line: String) {
        let bytes = Array((line + "\n").utf8)
        _ = Glibc.write(commands.number, bytes, bytes.count)
    }
}
