/// When certificates are renewed (docs/protocol.md, "Renewal").
public enum Renewal {
    /// From so long before its certificate's end, in seconds, a machine asks for a new one, and warns of the end.
    public static let leadTime: Int64 = 60 * 24 * 60 * 60
    /// A certificate that is valid for longer, in seconds, is not renewed: the clocks of the two may differ by a month.
    public static let longestRemainder: Int64 = 90 * 24 * 60 * 60

    /// Whether it is time to ask.
    ///
    /// - Parameters:
    ///   - end: When the certificate ends, in seconds since 1970.
    ///   - now: The time by the asking machine's clock.
    public static func isDue(end: Int64, now: Int64) -> Bool { now >= end - leadTime }

    /// Whether the end that holds the account's key does it.
    public static func isAllowed(end: Int64, now: Int64) -> Bool { now >= end - longestRemainder }
}
