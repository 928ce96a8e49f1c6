public import HandoffModel
public import HandoffSupport

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
    /// How many peers a visitor may be linked to at once: it shows all there are, and takes nobody's place.
    public static let maximumVisits = 512
    /// How many places may be named where to look for peers; a host without a port counts as one.
    public static let maximumPlaces = 16
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
    /// The activity types that the app makes.
    public let createdTypes: [String]
    /// The version of the content that the app writes and reads, for each type that has had more than one.
    public let contentVersions: [String: ContentVersion]
    /// From whom it takes activities that are sent to it.
    public let sendPolicy: SendPolicy
    /// The ports to try, in order.
    public let ports: ClosedRange<UInt16>
    /// The port to try before the others: the one of an earlier run, which a firewall may let through.
    public let preferredPort: UInt16?
    /// Where to look for peers besides; a host without a port is asked at each of ``defaultPorts``.
    public let places: [NetworkPlace]
    /// True for a command that links for a moment: it neither announces itself nor listens.
    public let isVisitor: Bool

    var linkLimit: Int { isVisitor ? Self.maximumVisits : Self.maximumLinks }

    /// Makes a configuration.
    ///
    /// - Parameters:
    ///   - app: The app's reverse-DNS id.
    ///   - name: The app's name for people.
    ///   - host: The machine's name for people.
    ///   - types: The activity types that the app can continue.
    ///   - createdTypes: Those that it makes; nil where they are the same.
    ///   - contentVersions: The version of the content for each type that has had more than one.
    ///   - sendPolicy: From whom it takes activities that are sent to it.
    ///   - ports: The ports to try, in order.
    ///   - preferredPort: The port to try before the others.
    ///   - places: Where to look for peers besides, at most ``maximumPlaces``.
    ///   - isVisitor: True for a command that links for a moment.
    /// - Throws: ``HandoffError/Code/invalidActivity`` where the app's id or a type is not reverse-DNS, a name is too
    ///   long, or there are too many types or places.
    public init(
        app: String,
        name: String,
        host: String,
        types: [String],
        createdTypes: [String]? = nil,
        contentVersions: [String: ContentVersion] = [:],
        sendPolicy: SendPolicy = .anyPeer,
        ports: ClosedRange<UInt16> = defaultPorts,
        preferredPort: UInt16? = nil,
        places: [NetworkPlace] = [],
        isVisitor: Bool = false
    ) throws(HandoffError) {
        for type in [app] + types + (createdTypes ?? []) where !ActivityType.isValid(type) {
            throw HandoffError(.invalidActivity, "not a reverse-DNS name such as org.example.notes: \(type)")
        }
        guard types.count <= Hello.maximumTypeCount else {
            throw HandoffError(.invalidActivity, "more than \(Hello.maximumTypeCount) activity types")
        }
        guard places.count <= Self.maximumPlaces else {
            throw HandoffError(.invalidActivity, "more than \(Self.maximumPlaces) places to look for peers")
        }
        for text in [app, name, host] where text.utf8.count > Hello.maximumNameSize {
            throw HandoffError(.invalidActivity, "longer than \(Hello.maximumNameSize) bytes: \(text.prefix(40))…")
        }
        self.app = app
        self.name = name
        self.host = host
        self.types = types
        self.createdTypes = createdTypes ?? types
        self.contentVersions = contentVersions
        self.sendPolicy = sendPolicy
        self.ports = ports
        self.preferredPort = preferredPort
        self.places = places
        self.isVisitor = isVisitor
    }
}
