import FoundationEssentials
import HandoffModel
import HandoffSupport
public import HandoffTransport

/// The peers that run for one user on this machine, each with a socket that tells programs what the peer sees.
///
/// Who connects is given one line of JSON, and asks nothing. The sockets are of their user alone (0600 in
/// 0700), and the kernel says who is at either end.
public struct LocalPeers: Sendable {
    private static let suffix = ".socket"
    /// So many are asked, should there ever be more.
    private static let maximumAsked = 16
    /// So many may be told at once: telling takes a moment.
    private static let maximumConnections = 8
    /// A program that takes what it is told no faster is cut off.
    private static let tellingLimit = Duration.seconds(1)

    private let directory: String

    /// Names the place of the sockets, which need not be there yet.
    ///
    /// - Parameter runtimeDirectory: The directory for sockets, which the user's programs share; made (0700) where it is
    ///   missing.
    public init(runtimeDirectory: String) {
        directory = runtimeDirectory + "/peers"
    }

    /// What a running peer of the same account and team knows of everybody, itself included.
    ///
    /// It is what a visitor would find out by looking around, except that round trips were measured earlier: a peer
    /// that does not know that much says so.
    ///
    /// - Parameters:
    ///   - identity: Of whose account and team the peer must be.
    ///   - limit: The longest wait for all of them together.
    /// - Returns: Nil where no such peer runs or answers, or none knows enough: look around then.
    public func statuses(
        for identity: Identity,
        within limit: Duration = .milliseconds(200)
    ) async -> [PeerStatus]? {
        let names = ((try? Directory.names(in: directory)) ?? []).filter { $0.hasSuffix(Self.suffix) }
        let answer = try? await withDeadline(limit, clock: .system, timeoutError: CancellationError()) {
            await withTaskGroup(of: [PeerStatus]?.self) { group in
                for name in names.sorted().prefix(Self.maximumAsked) {
                    group.addTask { await ask(at: "\(directory)/\(name)")?.statuses(for: identity) }
                }
                defer { group.cancelAll() }
                for await statuses in group { if let statuses { return statuses } }
                return nil
            }
        }
        return answer ?? nil
    }

    private func ask(at path: String) async -> StatusDocument? {
        let socket: LocalSocket
        do {
            socket = try LocalSocket.connect(to: path)
        } catch {
            // A process that was killed has left it: a peer's own has somebody there as soon as it has this name.
            if error.isConnectionRefused { try? Directory.remove(path) }
            return nil
        }
        guard let line = try? await socket.readLine() else { return nil }
        return try? JSONDecoder().decode(StatusDocument.self, from: Data(line))
    }

    /// Tells everybody who connects what a peer sees, until the task is cancelled.
    ///
    /// - Parameters:
    ///   - peer: The peer, which names the socket.
    ///   - document: What it sees at that moment.
    /// - Throws: `SystemError` where there can be no socket; `CancellationError`.
    func serve(_ peer: PeerID, _ document: @escaping @Sendable () async throws -> StatusDocument) async throws {
        try Directory.makePrivate(directory)
        let (draft, path) = ("\(directory)/.\(peer)", "\(directory)/\(peer)\(Self.suffix)")
        let listener = try LocalSocket.listen(at: draft)
        try Directory.rename(draft, to: path)
        defer { try? Directory.remove(path) }
        try await withThrowingDiscardingTaskGroup { group in
            let open = LockedBox(0)
            while true {
                let socket = try await listener.accept()
                guard open.withLock({ $0 < Self.maximumConnections }) else { continue }
                open.withLock { $0 += 1 }
                group.addTask {
                    try? await withDeadline(Self.tellingLimit, clock: .system, timeoutError: CancellationError()) {
                        let line = Array(try JSONEncoder().encode(await document()))
                        // Nobody would read a longer one.
                        if line.count < LocalSocket.maximumLine { try await socket.writeLine(line) }
                    }
                    open.withLock { $0 -= 1 }
                }
            }
        }
    }
}
