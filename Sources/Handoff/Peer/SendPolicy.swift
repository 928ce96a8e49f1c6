import FoundationEssentials
public import HandoffModel

/// From whom an app takes activities that are sent to it unasked.
public enum SendPolicy: Sendable, Hashable {
    /// From every paired peer.
    case anyPeer
    /// From the machines that are named, by machine id or by host name.
    ///
    /// Only the machine id is proven by the certificate; the host name is the machine's own word.
    case named(Set<String>)
    /// From nobody.
    case never

    /// Whether a peer may send.
    public func allows(_ peer: RemotePeer) -> Bool {
        switch self {
        case .anyPeer: true
        case .named(let names):
            names.contains(peer.hello.host)
                || names.contains { $0.lowercased() == peer.id.machine.uuidString.lowercased() }
        case .never: false
        }
    }
}
