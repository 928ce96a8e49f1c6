public import FoundationEssentials

/// What a peer tells over its links of its current activity; never the payload.
public struct Offer: Hashable, Sendable {
    /// The activity's id; a new activity has a new one.
    public let id: UUID
    /// The reverse-DNS type that selects the receiving app.
    public let type: String
    /// The title to show to people, at most ``maximumTitleSize`` bytes; it comes from a peer and may hold anything.
    public let title: String
    /// True where payloads too large for userInfo can be read from a stream.
    public let supportsStreams: Bool
    /// True where the payload names a web page, for those who have no app for the type.
    public let hasWebpage: Bool
    /// Which apps understand the payload.
    public let contentVersion: ContentVersion

    /// The longest title in bytes of UTF-8; longer ones are cut when the offer is made.
    public static let maximumTitleSize = 1024
    /// How many offers one peer may have; an app has at most one current activity, the rest is room for apps to come.
    public static let maximumCount = 16

    /// Makes an offer, cutting the title on a character boundary.
    public init(
        id: UUID,
        type: String,
        title: String,
        supportsStreams: Bool = false,
        hasWebpage: Bool = false,
        contentVersion: ContentVersion = .first
    ) {
        self.id = id
        self.type = type
        self.supportsStreams = supportsStreams
        self.hasWebpage = hasWebpage
        self.contentVersion = contentVersion
        self.title = Self.cut(title)
    }

    private static func cut(_ title: String) -> String {
        guard title.utf8.count > maximumTitleSize else { return title }
        var cut = ""
        var size = 0
        for character in title {
            size += character.utf8.count
            guard size <= maximumTitleSize else { break }
            cut.append(character)
        }
        return cut
    }

    /// Reads an offer out of a message.
    ///
    /// - Returns: Nil where a required key is missing, or one has the wrong type or size.
    init?(_ value: PropertyList) {
        guard let text = value["id"]?.stringValue, let id = UUID(uuidString: text),
            let type = value["type"]?.stringValue, ActivityType.isValid(type),
            let title = value["title"]?.stringValue, title.utf8.count <= Self.maximumTitleSize,
            let contentVersion = ContentVersion(value)
        else { return nil }
        self.id = id
        self.type = type
        self.title = title
        self.contentVersion = contentVersion
        supportsStreams = value["streams"]?.booleanValue ?? false
        hasWebpage = value["web"]?.booleanValue ?? false
    }

    var propertyList: PropertyList {
        let fields: [String: PropertyList] = [
            "id": .string(id.uuidString), "type": .string(type), "title": .string(title),
            "streams": .boolean(supportsStreams), "web": .boolean(hasWebpage),
        ]
        return .dictionary(fields.merging(contentVersion.propertyList) { $1 })
    }
}
