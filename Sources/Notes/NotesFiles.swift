import CommandLineKit
import FoundationEssentials
import Handoff
import NotesKit

/// Where the notes app keeps its things, and how its commands get at them.
struct NotesFiles {
    /// The user's environment, for the directories and the editor.
    let environment = ProcessInfo.processInfo.environment
    private let paths: HandoffPaths

    init() throws {
        paths = try HandoffPaths(environment: environment)
    }

    /// Opens the notes; the machine needs no identity for that.
    func openStore() async throws -> NotesStore {
        try await NotesStore.open(path: paths.data + "/notes.db", hash: Crypto.sha256)
    }

    /// Reads the machine's certificate and keys.
    func identity() throws -> Identity {
        try Identity.load(directory: paths.configuration + "/identity")
    }

    /// The running peer's socket, in a directory that is made where it is missing.
    func socket() throws -> String {
        try paths.makeRuntimeDirectory()
        return try paths.socket("notes.socket")
    }

    /// Connects to the running peer; nil where none runs.
    func connectToPeer() throws -> ControlClient? {
        try ControlClient.connect(to: try paths.socket("notes.socket"))
    }

    /// Tells the running peer, if there is one, that a note has a newer text or was removed.
    func tellPeer(changed note: Note) async {
        guard let client = try? connectToPeer() else { return }
        // The store has the text, and the peer reads it there when it is asked for the note.
        _ = try? await client.request(.changed(note: note.id))
    }

    /// Connects to the running peer.
    ///
    /// - Throws: `CommandFailure` with the exit code 3 where none runs.
    func runningPeer() throws -> ControlClient {
        guard let client = try connectToPeer() else {
            throw CommandFailure("no notes peer is running here: start one with `notes run`", exitCode: .peerNotRunning)
        }
        return client
    }
}

extension UUID {
    /// The form that is shown and that `--json` carries.
    var text: String { uuidString.lowercased() }
}
