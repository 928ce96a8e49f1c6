/// The versions of the wire protocol that a peer speaks: all from the lowest to the highest.
///
/// Its text is "1" for one version and "1-2" for more; each range has one text only.
public struct ProtocolVersions: Hashable, Sendable, LosslessStringConvertible {
    /// The lowest version spoken, from 1.
    public let lowest: Int
    /// The highest version spoken, up to 99.
    public let highest: Int

    /// What this software speaks.
    public static let current = ProtocolVersions(1...1)

    private init(_ range: ClosedRange<Int>) {
        lowest = range.lowerBound
        highest = range.upperBound
    }

    /// Makes a range.
    ///
    /// - Returns: Nil where it is empty or goes beyond 1 to 99.
    public init?(lowest: Int, highest: Int) {
        guard 1 <= lowest, lowest <= highest, highest <= 99 else { return nil }
        self.init(lowest...highest)
    }

    /// Reads the text of a range.
    ///
    /// - Returns: Nil where it is anything but that range's one text.
    public init?(_ description: String) {
        let numbers = description.split(separator: "-", omittingEmptySubsequences: false).map { Int($0) }
        guard let lowest = numbers.first.flatMap(\.self), let highest = numbers.last.flatMap(\.self) else { return nil }
        self.init(lowest: lowest, highest: highest)
        guard self.description == description else { return nil }
    }

    /// The range as a record holds it.
    public var description: String { lowest == highest ? "\(lowest)" : "\(lowest)-\(highest)" }

    /// The highest version that both speak, or nil where there is none.
    public func negotiated(with other: ProtocolVersions) -> Int? {
        let version = min(highest, other.highest)
        return version >= max(lowest, other.lowest) ? version : nil
    }
}
