/// The tokens that were given out and not used yet: each for one stream, one holder and a short time.
///
/// Pure: the caller draws the tokens and tells the time.
public struct StreamTokens<Grant: Sendable>: Sendable {
    /// How long a token is good for (docs/protocol.md, "Streams").
    public static var lifetime: Duration { .seconds(60) }
    /// How many may be out at once; with one more, the oldest is void.
    public static var capacity: Int { 128 }

    private struct Entry: Sendable {
        let token: StreamToken
        let holder: [UInt8]
        let end: Duration
        let grant: Grant
    }

    /// The oldest first.
    private var entries: [Entry] = []

    /// Makes an empty table.
    public init() {}

    /// Notes a token that is given out.
    ///
    /// - Parameters:
    ///   - token: The token.
    ///   - holder: The fingerprint of the certificate that has to be shown with it.
    ///   - now: The moment.
    ///   - grant: What it is good for.
    public mutating func issue(_ token: StreamToken, to holder: [UInt8], at now: Duration, for grant: Grant) {
        removeExpired(at: now)
        if entries.count >= Self.capacity { entries.removeFirst() }
        entries.append(Entry(token: token, holder: holder, end: now + Self.lifetime, grant: grant))
    }

    /// When the first of them is over; nil where none is out.
    public var deadline: Duration? { entries.first?.end }

    /// Forgets those that are over, and what they hold.
    public mutating func removeExpired(at now: Duration) { entries.removeAll { $0.end <= now } }

    /// Takes a token back.
    ///
    /// - Parameters:
    ///   - token: The token that is shown; random, so that looking it up tells nothing about the others.
    ///   - holder: The fingerprint of the certificate that is shown with it.
    ///   - now: The moment.
    /// - Returns: What it is good for; nil where there is no such token, its time is over, or somebody else holds it.
    public mutating func redeem(_ token: StreamToken, by holder: [UInt8], at now: Duration) -> Grant? {
        removeExpired(at: now)
        guard let index = entries.firstIndex(where: { $0.token == token && $0.holder == holder }) else { return nil }
        return entries.remove(at: index).grant
    }
}
