import CommandLineKit
import Handoff

/// A place that `--peer` names.
///
/// - Parameters:
///   - text: What was given.
///   - port: A port for the example of how it is written.
/// - Throws: `CommandFailure` for a misuse.
func namedPlace(_ text: String, port: UInt16) throws(CommandFailure) -> NetworkPlace {
    guard let place = NetworkPlace(text) else {
        throw .usage("--peer is a host, or a host and a port, such as kitchen:\(port), and not “\(printable(text))”")
    }
    return place
}
