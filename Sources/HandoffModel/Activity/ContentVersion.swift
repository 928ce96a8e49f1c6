/// Which apps understand the userInfo of an activity type, so that old and new versions of an app can meet.
///
/// An app declares one for each of its types. The rule: an app reads what is older than its own version, filling in what
/// was not written then; of something newer it reads what the newer app says that it can, ignoring unknown keys.
/// Anything else is not continued, and both ends can see why.
public struct ContentVersion: Hashable, Sendable, CustomStringConvertible {
    /// The version that the app writes, counted up by its maker from 1.
    public let number: Int
    /// The oldest version whose readers understand what this one writes; at most ``number``.
    public let oldestReader: Int

    /// What apps have that never changed what they write.
    public static let first = ContentVersion(1)

    /// Makes a version.
    ///
    /// - Parameters:
    ///   - number: The version, 1 at least; lower numbers count as 1.
    ///   - oldestReader: The oldest version whose readers understand it; nil where all do, which holds as long as keys
    ///     are only added.
    public init(_ number: Int, oldestReader: Int? = nil) {
        self.number = max(number, 1)
        self.oldestReader = min(max(oldestReader ?? 1, 1), self.number)
    }

    /// True where an app of this version can read what one of another version wrote.
    public func canRead(_ written: ContentVersion) -> Bool { number >= written.oldestReader }

    /// The number.
    public var description: String { "\(number)" }

    /// Reads a version out of an offer or a payload, where its keys may be missing.
    ///
    /// - Returns: Nil where a key has the wrong type or breaks the rule.
    init?(_ value: PropertyList) {
        let number = value["version"]?.integerValue ?? (value["version"] == nil ? 1 : 0)
        let oldest = value["oldestReader"]?.integerValue ?? (value["oldestReader"] == nil ? 1 : 0)
        guard number >= 1, (1...number).contains(oldest) else { return nil }
        self.number = number
        oldestReader = oldest
    }

    var propertyList: [String: PropertyList] {
        self == .first ? [:] : ["version": .integer(number), "oldestReader": .integer(oldestReader)]
    }
}
