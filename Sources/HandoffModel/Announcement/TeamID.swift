/// The family of apps that may hand off to each other: 10 characters from A to Z and 0 to 9.
///
/// A peer's certificate carries it as its one OU.
public struct TeamID: Hashable, Sendable, LosslessStringConvertible {
    /// The ten characters.
    public let description: String

    /// Takes a team ID from text.
    ///
    /// - Returns: Nil where it is not exactly ten of those characters.
    public init?(_ description: String) {
        let isValid = description.utf8.allSatisfy { (0x41...0x5A).contains($0) || (0x30...0x39).contains($0) }
        guard description.utf8.count == 10, isValid else { return nil }
        self.description = description
    }
}
