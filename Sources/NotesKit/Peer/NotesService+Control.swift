import FoundationEssentials
import Glibc
import Handoff

extension NotesService {
    /// Answers a command.
    ///
    /// - Parameters:
    ///   - request: What it asks.
    ///   - connection: Its connection, which a lease lasts for.
    func answer(_ request: ControlRequest, on connection: UUID) async -> ControlReply {
        do {
            switch request {
            case .status: return .status(try await status())
            case .activities: return .activities(try await activities())
            case .open(let note): try await hold(note, by: .opened)
            case .close(let note): try await closeNote(note)
            case .hold(let note): try await hold(note, by: .connection(connection))
            case .changed(let note): await noteChanged(note)
            case .continueActivity(let name): return .continued(try await continueNote(from: name))
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
            ActivityReport(
                id: candidate.offer.id.uuidString.lowercased(),
                type: candidate.offer.type,
                title: candidate.offer.title,
                peer: PeerReport(id: candidate.peer.id, hello: candidate.peer.hello, latency: candidate.latency)
            )
        }
        return foreign + (current.map { [Self.report($0.activity)] } ?? [])
    }

    private static func report(_ activity: UserActivity) -> ActivityReport {
        ActivityReport(
            id: activity.id.uuidString.lowercased(),
            type: activity.type,
            title: activity.title,
            peer: nil
        )
    }
}
