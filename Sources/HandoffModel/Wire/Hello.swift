import FoundationEssentials

/// What each end of a link tells of itself before anything else; team and machine id come from its certificate.
public struct Hello: Hashable, Sendable {
    /// The protocol versions it speaks.
    public let versions: ProtocolVersions
    /// Which run of the program it is.
    public let instance: InstanceID
    /// The app's reverse-DNS id.
    public let app: String
    /// The app's name for people.
    public let name: String
    /// The machine's name for people.
    public let host: String
    /// True for a command that links for a moment and is no peer.
    public let isVisitor: Bool
    /// The activity types it can continue.
    public let types: [String]
    /// The instance name it announces, so that the acceptor need not dial it too; a hint only.
    public let service: String?
    /// The port it listens on, at which it can be dialled again where nothing announces it; nil for a visitor.
    public let port: UInt16?
    /// Whether the machine holds the account's key, and so renews certificates.
    public let holdsKey: Bool
    /// The machines that the account has revoked last, not yet verified.
    ///
    /// The rest follows in `revocations`, at most ``Revocation/maximumInHello`` are here.
    public let revocations: [Revocation]

    /// The longest app id, name and host in bytes of UTF-8 (docs/protocol.md, "Messages").
    public static let maximumNameSize = 255
    /// How many activity types an app may declare.
    public static let maximumTypeCount = 64

    /// Makes a greeting.
    public init(
        versions: ProtocolVersions,
        instance: InstanceID,
        app: String,
        name: String,
        host: String,
        isVisitor: Bool,
        types: [String],
        service: String?,
        port: UInt16? = nil,
        holdsKey: Bool = false,
        revocations: [Revocation] = []
    ) {
        self.versions = versions
        self.instance = instance
        self.app = app
        self.name = name
        self.host = host
        self.isVisitor = isVisitor
        self.types = types
        self.service = service
        self.port = port
        self.holdsKey = holdsKey
        self.revocations = revocations
    }

    init?(_ value: PropertyList) {
        guard let versions = value["versions"]?.stringValue.flatMap(ProtocolVersions.init),
            let instance = value["instance"]?.dataValue.flatMap({ InstanceID(Array($0)) }),
            let app = value["app"]?.stringValue, ActivityType.isValid(app),
            let name = value["name"]?.stringValue, name.utf8.count <= Self.maximumNameSize,
            let host = value["host"]?.stringValue, host.utf8.count <= Self.maximumNameSize
        else { return nil }
        let types = value["types"]?.arrayValue ?? []
        guard types.count <= Self.maximumTypeCount,
            let revocations: [Revocation] = AccountStatements.statements(
                value["revocations"],
                atMost: Revocation.maximumInHello
            )
        else { return nil }
        self.revocations = revocations
        holdsKey = value["signs"]?.booleanValue ?? false
        self.versions = versions
        self.instance = instance
        self.app = app
        self.name = name
        self.host = host
        isVisitor = value["visitor"]?.booleanValue ?? false
        self.types = types.compactMap { $0.stringValue.flatMap { ActivityType.isValid($0) ? $0 : nil } }
        service = value["service"]?.stringValue.flatMap { $0.utf8.count <= 63 ? $0 : nil }
        port = value["port"]?.integerValue.flatMap { UInt16(exactly: $0) }.flatMap { $0 > 0 ? $0 : nil }
    }

    var propertyList: [String: PropertyList] {
        var fields: [String: PropertyList] = [
            "versions": .string(versions.description), "instance": .data(Data(instance.bytes)), "app": .string(app),
            "name": .string(name), "host": .string(host), "visitor": .boolean(isVisitor),
            "types": .array(types.map { .string($0) }),
        ]
        if let service { fields["service"] = .string(service) }
        if let port { fields["port"] = .integer(Int(port)) }
        if holdsKey { fields["signs"] = true }
        if !revocations.isEmpty { fields["revocations"] = AccountStatements.list(revocations) }
        return fields
    }
}
