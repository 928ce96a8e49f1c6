public import HandoffModel

/// What a program tells of itself, and how its peer behaves.
public struct HandoffConfiguration: Sendable {
    /// The ports that peers listen on (docs/protocol.md, "Ports"): outside Linux's ephemeral range and IANA's list.
    public static let defaultPorts: ClosedRange<UInt16> = 24280...24289
    /// The DNS-SD service type.
    public static let serviceType = "_handoff._tcp"
    /// The protocol versions that this library speaks.
    public static let versions = ProtocolVersions.current
    /// How many peers may be linked at once; one more is turned away as `busy` (docs/protocol.md, "Limits and deadlines").
    public static let maximumLinks = 64
    /// How many visitors may be linked besides.
    public static let maximumVisitors = 16

    /// The app's reverse-DNS id, by the rule of ``ActivityType``.
    public let app: String
    /// The app's name for people, at most ``Hello/maximumNameSize`` bytes of UTF-8.
    public let name: String
    /// The machine's name for people, at most ``Hello/maximumNameSize`` bytes of UTF-8.
    public let host: String
    /// The activity types that the app can continue, at most ``Hello/maximumTypeCount``.
    public let types: [String]
    /// The ports to try, in order.
    public let ports: ClosedRange<UInt16>
    /// The port to try before the others: the one of an earlier run, which a firewall may let through.
    public let preferredPort: UInt16?
    /// True for a command that links for a moment: it neither announces itself nor listens.
    public let isVisitor: Bool

    /// Makes a configuration.
    ///
    /// - Parameters:
    ///   - app: The app's reverse-DNS id.
    ///   - name: The app's name for people.
    ///   - host: The machine's name for people.
    ///   - types: The activity types that the app can continue.
    ///   - ports: The ports to try, in order.
    ///   - preferredPort: The port to try before the others.
    ///   - isVisitor: True for a command that links for a moment.
    /// - Throws: ``HandoffError/Code/invalidActivity`` where the app's id or a type is not reverse-DNS, or there are too
    ///   many types.
    public init(
        app: String,
        name: String,
        host: String,
        types: [String],
        ports: ClosedRange<UInt16> = defaultPorts,
        preferredPort: UInt16? = nil,
        isVisitor: Bool = false
    ) throws(HandoffError) {
        for type in [app] + types where !ActivityType.isValid(type) {
            throw HandoffError(.invalidActivity, "not a reverse-DNS name such as org.example.notes: \(type)")
        }
        guard types.count <= Hello.maximumTypeCount else {
            throw HandoffError(.invalidActivity, "more than \(Hello.maximumTypeCount) activity types")
        }
        self.app = app
        self.name = name
        self.host = host
        self.types = types
        self.ports = ports
        self.preferredPort = preferredPort
        self.isVisitor = isVisitor
    }
}
