public import FoundationEssentials

/// The state of an activity as its origin saved it, as it travels in an answer to `fetch`.
public struct ActivityPayload: Hashable, Sendable {
    /// The activity's id.
    public let id: UUID
    /// Its reverse-DNS type.
    public let type: String
    /// Its title, for people.
    public let title: String
    /// What the app saved.
    public let userInfo: [String: PropertyList]

    /// Above this size of the encoded userInfo, in bytes, the log gets a warning: Apple's guidance for a swift handoff.
    public static let recommendedUserInfoSize = 3 * 1024
    /// The largest encoded userInfo in bytes; what is larger goes by a stream.
    public static let maximumUserInfoSize = 64 * 1024

    /// Makes a payload, checking what the origin saved.
    ///
    /// - Throws: ``HandoffError/Code/userInfoTooLarge``, or ``HandoffError/Code/invalidActivity`` where a value is
    ///   nested too deep or there are too many.
    public init(id: UUID, type: String, title: String, userInfo: [String: PropertyList]) throws(HandoffError) {
        _ = try Self.encodedSize(of: userInfo)
        self.id = id
        self.type = type
        self.title = title
        self.userInfo = userInfo
    }

    /// The size of a userInfo on the wire in bytes.
    ///
    /// - Throws: ``HandoffError/Code/userInfoTooLarge``, or ``HandoffError/Code/invalidActivity``.
    public static func encodedSize(of userInfo: [String: PropertyList]) throws(HandoffError) -> Int {
        let size: Int
        do {
            size = try BinaryPropertyList.encode(.dictionary(userInfo)).count
        } catch {
            throw HandoffError(.invalidActivity, "userInfo cannot be encoded: \(error)")
        }
        guard size <= maximumUserInfoSize else {
            throw HandoffError(
                .userInfoTooLarge,
                "the activity holds \(size) bytes, and at most \(maximumUserInfoSize / 1024) KiB can be handed over at once: "
                    + "larger content needs a stream"
            )
        }
        return size
    }

    /// Reads a payload out of a message; the size is judged by the frame's limit and by the caller.
    init?(_ value: PropertyList) {
        guard let text = value["id"]?.stringValue, let id = UUID(uuidString: text),
            let type = value["type"]?.stringValue, ActivityType.isValid(type),
            let title = value["title"]?.stringValue,
            let userInfo = value["userInfo"]?.dictionaryValue
        else { return nil }
        self.id = id
        self.type = type
        self.title = title
        self.userInfo = userInfo
    }

    var propertyList: PropertyList {
        .dictionary([
            "id": .string(id.uuidString), "type": .string(type), "title": .string(title),
            "userInfo": .dictionary(userInfo),
        ])
    }
}
