import CommandLineKit
import FoundationEssentials
import Handoff
import NotesKit

/// The user's environment, for the directories and the editor.
let environment = ProcessInfo.processInfo.environment

/// Opens the notes of this user on this machine.
func openStore() async throws -> NotesStore {
    let paths = try HandoffPaths(environment: environment)
    return try await NotesStore.open(path: paths.data + "/notes.db", hash: { Crypto.sha256($0) })
}

extension UUID {
    /// The form that is shown and that `--json` carries.
    var text: String { uuidString.lowercased() }
}
