public import FoundationEssentials

/// The state of an activity as its origin saved it, as it travels in an answer to `fetch`.
public struct ActivityPayload: Hashable, Sendable {
    /// What was offered, with the title that it has now.
    public let offer: Offer
    /// What the app saved.
    public let userInfo: [String: PropertyList]
    /// What travels beside it.
    public let details: ActivityDetails

    /// Above this size of the encoded userInfo, in bytes, the log gets a warning: Apple's guidance for a swift handoff.
    public static let recommendedUserInfoSize = 3 * 1024
    /// The largest encoded userInfo in bytes; what is larger goes by a stream.
    public static let maximumUserInfoSize = 64 * 1024

    /// Makes a payload, checking what the origin saved.
    ///
    /// - Throws: What ``check()`` throws.
    public init(
        offer: Offer,
        userInfo: [String: PropertyList],
        details: ActivityDetails = ActivityDetails()
    ) throws(HandoffError) {
        self.offer = offer
        self.userInfo = userInfo
        self.details = details
        try check()
    }

    /// Checks what the origin saved; the receiving end does so again, because the origin's word proves nothing.
    ///
    /// - Returns: The size of the encoded userInfo in bytes.
    /// - Throws: ``HandoffError``: `userInfoTooLarge`; `missingKey`, naming the key; `invalidActivity` where a value is
    ///   nested too deep, there are too many, or a detail is too long.
    @discardableResult
    public func check() throws(HandoffError) -> Int {
        let size = try Self.encodedSize(of: userInfo)
        try details.check()
        if let key = details.requiredUserInfoKeys.sorted().first(where: { userInfo[$0] == nil }) {
            throw .missingKey(key)
        }
        return size
    }

    private static func encodedSize(of userInfo: [String: PropertyList]) throws(HandoffError) -> Int {
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

    /// Reads a payload out of a message; what it holds is judged by ``check()``.
    init?(_ value: PropertyList) {
        guard let offer = Offer(value), let details = ActivityDetails(value),
            let userInfo = value["userInfo"]?.dictionaryValue
        else { return nil }
        self.offer = offer
        self.userInfo = userInfo
        self.details = details
    }

    var propertyList: PropertyList {
        var fields = offer.propertyList.dictionaryValue ?? [:]
        fields["userInfo"] = .dictionary(userInfo)
        return .dictionary(fields.merging(details.propertyList) { $1 })
    }
}

/// What travels with an activity's payload besides its offer and userInfo.
public struct ActivityDetails: Hashable, Sendable {
    /// The keys without which userInfo is of no use.
    public var requiredUserInfoKeys: Set<String> = []
    /// The same content on the web.
    public var webpageURL: URL?
    /// From when on the activity may not be continued any more.
    public var expirationDate: Date?
    /// What the activity is about, so that a window or an editor that shows it already can be used.
    public var targetContentIdentifier: String?

    /// How many keys may be required.
    public static let maximumRequiredKeyCount = 64
    /// The longest required key and target content identifier in bytes of UTF-8.
    public static let maximumTextSize = 1024

    /// Makes details that say nothing.
    public init() {}

    func check() throws(HandoffError) {
        guard requiredUserInfoKeys.count <= Self.maximumRequiredKeyCount else {
            throw HandoffError(.invalidActivity, "more than \(Self.maximumRequiredKeyCount) keys are required")
        }
        guard requiredUserInfoKeys.allSatisfy({ $0.utf8.count <= Self.maximumTextSize }),
            (targetContentIdentifier?.utf8.count ?? 0) <= Self.maximumTextSize
        else {
            let limit = Self.maximumTextSize
            throw HandoffError(
                .invalidActivity,
                "a required key or the target content identifier has over \(limit) bytes"
            )
        }
    }

    /// Reads the details of a payload.
    ///
    /// - Returns: Nil where a key has the wrong type, or the web page is none.
    init?(_ value: PropertyList) {
        if let required = value["required"] {
            guard let keys = required.arrayValue else { return nil }
            requiredUserInfoKeys = Set(keys.compactMap(\.stringValue))
            guard requiredUserInfoKeys.count == keys.count else { return nil }
        }
        if let page = value["webpage"] {
            guard let url = page.stringValue.flatMap(WebpageURL.parse) else { return nil }
            webpageURL = url
        }
        if let date = value["expires"] {
            guard let date = date.dateValue else { return nil }
            expirationDate = date
        }
        if let target = value["target"] {
            guard let target = target.stringValue else { return nil }
            targetContentIdentifier = target
        }
    }

    var propertyList: [String: PropertyList] {
        var fields: [String: PropertyList] = [:]
        if !requiredUserInfoKeys.isEmpty {
            fields["required"] = .array(requiredUserInfoKeys.sorted().map { .string($0) })
        }
        fields["webpage"] = webpageURL.map { .string($0.absoluteString) }
        fields["expires"] = expirationDate.map { .date($0) }
        fields["target"] = targetContentIdentifier.map { .string($0) }
        return fields
    }
}
