import CommandLineKit
import Handoff
import NotesKit

/// What the commands that deal with peers need from the file system: the identity, and the running peer's socket.
struct NotesFiles {
    private let paths: HandoffPaths

    init() throws {
        paths = try HandoffPaths(environment: environment)
    }

    /// Reads the machine's certificate and keys.
    func identity() throws -> Identity {
        try Identity.load(directory: paths.configuration + "/identity")
    }

    /// What the user has decided.
    func configuration() throws -> NotesConfiguration {
        try NotesConfiguration(in: paths.configuration)
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

    /// Connects to the running peer.
    ///
    /// - Throws: `CommandFailure` with the exit code 3 where none runs.
    func runningPeer() throws -> ControlClient {
        guard let client = try connectToPeer() else {
            throw CommandFailure("no notes peer is running here: start one with `notes run`", exitCode: .peerNotRunning)
        }
        return client
    }

    /// Where programs on this machine ask what the running peer sees.
    var localPeers: LocalPeers { LocalPeers(runtimeDirectory: paths.runtime) }

    /// Where the addresses of paired machines are kept.
    func knownPeers(_ identity: Identity) -> KnownPeersFile {
        KnownPeersFile(directory: paths.state, identity: identity)
    }

    /// Asks the running peer; where there is none, a visitor, who looks for the others first.
    ///
    /// What takes long is shown.
    func ask(_ request: ControlRequest, _ arguments: Arguments) async throws -> ControlReply {
        try await withProgress(isJSON: arguments.has("json")) { tell in
            try await ask(request, arguments) { tell($0.name, $0.stage, $0.completed, $0.total) }
        }
    }

    private func ask(
        _ request: ControlRequest,
        _ arguments: Arguments,
        tell: @escaping @Sendable (ProgressReport) -> Void
    ) async throws -> ControlReply {
        let places = try places(arguments)
        if let peer = try connectToPeer() {
            if !places.isEmpty,
                case .reached(let failures) = try await peer.request(.reach(places: places.map(\.description)))
            {
                Notes.tell(failures)
            }
            return try await peer.request(request, tell: tell)
        }
        let (log, identity) = (log(arguments), try identity())
        let service = try NotesService(
            store: try await openStore(),
            identity: identity,
            discovery: try AvahiDiscovery(type: HandoffConfiguration.serviceType, log: log),
            host: hostName(),
            places: places + configuration().peers,
            knownPeers: knownPeers(identity),
            isVisitor: true,
            log: log
        )
        return try await service.visit(for: request, places: places, tellUnreached: Notes.tell, tell: tell)
    }
}

/// Tells the running peer, if there is one, that a note has a newer text or was removed.
func tellPeer(changed note: Note) async {
    guard let client = try? NotesFiles().connectToPeer() else { return }
    // That it cannot be told loses nothing: the peer reads the store when it is asked for the note.
    _ = try? await client.request(.changed(note: note.id))
}
