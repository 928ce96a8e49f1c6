import FoundationEssentials
import Glibc
import Handoff

extension NotesService {
    /// Answers a command.
    ///
    /// - Parameters:
    ///   - request: What it asks.
    ///   - connection: Its connection, which a lease lasts for.
    ///   - tell: Told how far a long work is.
    func answer(_ request: ControlRequest, on connection: UUID, tell: @escaping Tell) async -> ControlReply {
        do {
            switch request {
            case .status: return .status(try await status())
            case .activities: return .activities(try await activities())
            case .open(let note): try await hold(note, by: .opened)
            case .close(let note): try await closeNote(note)
            case .hold(let note): try await hold(note, by: .connection(connection))
            case .changed(let note): await noteChanged(note)
            case .reach(let places):
                let found = try await peer().reach(places.compactMap(NetworkPlace.init), atMost: Self.visitLimit)
                return .reached(found.map(ContinueReport.Failure.init))
            case .continueActivity(let name, let options):
                return try await continueActivity(from: name, options, tell: tell)
            case .send(let note, let name): return try await send(note, to: name, tell: tell)
            case .fetchAttachments(let note): return try await fetchAttachments(of: note, tell: tell)
            }
            return .done
        } catch {
            return .failed(message: "\(error)")
        }
    }

    /// A command's connection ended, and its lease with it.
    func disconnected(_ connection: UUID) async {
        await end(.connection(connection))
    }

    private func status() async throws -> StatusReport {
        let peer = try peer()
        let port = await peer.port
        return StatusReport(
            pid: getpid(),
            id: "\(peer.id)",
            host: peer.configuration.host,
            port: port.map { Int($0) },
            service: await peer.announcedName,
            peers: await peer.peers().compactMap { status in
                guard let id = status.id, let hello = status.hello else { return nil }
                return PeerReport(id: id, hello: hello, latency: status.latency)
            },
            current: current.map { Self.report($0.activity) },
            problem: await peer.discoveryProblem?.message
        )
    }

    private func activities() async throws -> [ActivityReport] {
        let peer = try peer()
        let foreign = await peer.candidates().map { candidate in
            Self.report(candidate.offer, of: candidate.peer, latency: candidate.latency, reason: nil)
        }
        let obstacles = await peer.obstacles().map { obstacle in
            Self.report(obstacle.offer, of: obstacle.peer, latency: nil, reason: obstacle.error.message)
        }
        return foreign + obstacles + (current.map { [Self.report($0.activity)] } ?? [])
    }

    private static func report(
        _ offer: Offer,
        of peer: RemotePeer,
        latency: Duration?,
        reason: String?
    ) -> ActivityReport {
        ActivityReport(
            id: offer.id.uuidString.lowercased(),
            type: offer.type,
            title: offer.title,
            peer: PeerReport(id: peer.id, hello: peer.hello, latency: latency),
            reason: reason
        )
    }

    private static func report(_ activity: UserActivity) -> ActivityReport {
        ActivityReport(
            id: activity.id.uuidString.lowercased(),
            type: activity.type,
            title: activity.title,
            peer: nil,
            reason: nil
        )
    }
}
