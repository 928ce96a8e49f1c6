import CommandLineKit
import Handoff

/// A place that `--peer` names.
///
/// - Throws: `CommandFailure` for a misuse.
func namedPlace(_ text: String) throws(CommandFailure) -> NetworkPlace {
    guard let place = NetworkPlace(text) else {
        throw .usage("--peer is a host, or a host and a port, such as kitchen:24280, and not “\(printable(text))”")
    }
    return place
}
