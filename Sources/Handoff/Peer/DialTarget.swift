import FoundationEssentials
import HandoffModel
import HandoffSupport

/// What a peer dials.
enum DialTarget: Hashable, Comparable, Sendable, CustomStringConvertible {
    /// An announced service, by its name.
    case service(String)
    /// One port of a host that somebody named.
    case place(NetworkPlace)
    /// Where a peer of a machine listened when it was linked last.
    case known(machine: UUID, port: UInt16)

    /// The longest pause between two tries; a known peer that comes back dials us at once.
    var longestPause: Duration {
        switch self {
        case .service, .place: .seconds(60)
        case .known: .seconds(300)
        }
    }

    /// For the log.
    var description: String {
        switch self {
        case .service(let name): name
        case .place(let place): place.description
        case .known(let machine, let port): "\(machine.uuidString.lowercased()), port \(port)"
        }
    }
}

extension PairingFailure {
    /// How much it tells of the many ports of one host: somebody's answer more than silence.
    var weight: Int {
        switch self {
        case .unreachable, .unknownHost: 0
        case .timedOut: 1
        case .connectionLost, .ourselves: 2
        default: 3
        }
    }
}
