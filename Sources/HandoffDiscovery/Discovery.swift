public import HandoffSupport

/// Announces this peer on the local network and looks for others.
///
/// Whatever it tells is a hint that anybody on the network may have forged; trust comes from TLS alone. It finds our own
/// announcement, too: we know ourselves by the pair in `hello`, since two apps on one host must meet.
public protocol Discovery: Sendable {
    /// What happened, for one consumer; a slow one is told the latest state of each service, not each step.
    ///
    /// The sequence ends when `run` does.
    var events: DiscoveryEvents { get }

    /// Does the work until the task is cancelled, then withdraws the announcement and returns.
    ///
    /// To be called once. An unreachable daemon does not end it: it is told as an event and tried again.
    ///
    /// - Throws: `DiscoveryError` where the work cannot be done at all.
    func run() async throws

    /// Announces a service in place of the one announced before, now or as soon as that is possible.
    ///
    /// - Parameters:
    ///   - announcement: What to announce.
    ///   - onCollision: Makes the announcement to try after somebody else was found to have the name; with random
    ///     names, one with a fresh name. Called on a thread of the discovery's own; it must not wait.
    /// - Throws: `DiscoveryError` with the code `invalidAnnouncement`.
    func announce(
        _ announcement: ServiceAnnouncement,
        onCollision: @escaping @Sendable (ServiceAnnouncement) -> ServiceAnnouncement
    ) throws(DiscoveryError)

    /// Takes the announcement back; other hosts are told that it is gone.
    func withdraw()

    /// Asks the network where a service is now, waiting for it to appear where it was not seen yet.
    ///
    /// - Parameters:
    ///   - instanceName: Its name, as an event told it.
    ///   - limit: The longest this may take.
    /// - Returns: The service with the addresses known at the first answer.
    /// - Throws: `DiscoveryError` with the code `timedOut`, or why the network cannot be asked; `CancellationError`.
    func resolve(_ instanceName: String, within limit: Duration) async throws -> DiscoveredService
}

/// A service to announce.
public struct ServiceAnnouncement: Sendable, Hashable {
    /// The name that tells it from others of its type: 1 to 63 bytes of UTF-8 without control characters.
    public var instanceName: String
    /// The port of the socket that already listens; not 0.
    public var port: UInt16
    /// The strings of its TXT record: 1 to 255 bytes each, 1,300 in all.
    public var text: [[UInt8]]

    /// Makes an announcement; `validate` says whether it can be announced.
    public init(instanceName: String, port: UInt16, text: [[UInt8]]) {
        self.instanceName = instanceName
        self.port = port
        self.text = text
    }
}

/// A service that was found.
public struct DiscoveredService: Sendable, Hashable {
    /// The name that tells it from others of its type; it came from a stranger, and is printed through an escape only.
    public let instanceName: String
    /// The host's name in mDNS, such as `host.local`; it came from a stranger, too.
    public let hostName: String
    /// Where it listens: one address a family and interface it was seen on, with the port.
    public let addresses: [SocketAddress]
    /// The strings of its TXT record, in no particular order.
    public let text: [[UInt8]]

    /// Records a service.
    public init(instanceName: String, hostName: String, addresses: [SocketAddress], text: [[UInt8]]) {
        self.instanceName = instanceName
        self.hostName = hostName
        self.addresses = addresses
        self.text = text
    }
}

/// What a discovery tells.
public enum DiscoveryEvent: Sendable, Equatable {
    /// A service is new, or has changed.
    case found(DiscoveredService)
    /// A service that was found is gone.
    case lost(instanceName: String)
    /// Our announcement is on the network under this name.
    case announced(instanceName: String)
    /// The first look around is over: whoever answered at once was told before.
    case settled
    /// It does not work for now, and is tried again; with `notPermitted` and `invalidAnnouncement` only the
    /// announcement does not work, and is not tried again as it is.
    case unavailable(DiscoveryError)
    /// It works.
    case available
}
