import CommandLineKit
import Handoff

/// The option of the verbs that deal with peers.
let peerOption = Option.value(
    "peer",
    "HOST[:PORT]",
    "Look for peers there, too; without a port at each of 24280 to 24289",
    repeats: true
)

/// How many places the options may name, and how many the configuration.
let maximumPlaces = HandoffConfiguration.maximumPlaces / 2

/// The places that `--peer` names.
///
/// - Throws: `CommandFailure` for a misuse.
func places(_ arguments: Arguments) throws(CommandFailure) -> [NetworkPlace] {
    let places = try arguments.values("peer").map { text throws(CommandFailure) in
        guard let place = NetworkPlace(text) else {
            throw .usage("--peer is a host, or a host and a port, such as kitchen:24280, and not “\(printable(text))”")
        }
        return place
    }
    guard places.count <= maximumPlaces else {
        throw .usage("--peer can be given \(maximumPlaces) times at most")
    }
    return places
}
