import CommandLineKit
import Handoff

/// Which peers are shown.
struct PeerFilter {
    private let showsAll: Bool
    private let app: String?
    private let host: String?

    init(_ arguments: Arguments) {
        showsAll = arguments.has("all")
        app = arguments["app"]
        host = arguments["host"]
    }

    /// Whether a peer is shown; of another account only where that is wanted, and by its names as it tells them.
    func allows(_ status: PeerStatus) -> Bool {
        guard showsAll || status.account != .other else { return false }
        if let app, ![status.hello?.app, status.hello?.name].contains(app) { return false }
        guard let host else { return true }
        return status.hello?.host == host || status.announcedHost == host || status.announcedHost == "\(host).local"
    }
}
