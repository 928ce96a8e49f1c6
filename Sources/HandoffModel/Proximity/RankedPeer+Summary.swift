extension RankedPeer: CustomStringConvertible {
    /// What is known and what decided, for people: "class 1, 1.2 ms: nearer than the next one, of class 3".
    public var description: String { "\(sample): \(reason)" }
}

extension ProximitySample: CustomStringConvertible {
    /// What is known, for people: "class 1, -62 dBm, 1.2 ms".
    public var description: String {
        var parts = ["class \(proximityClass)"]
        if let signal { parts.append("\(tenths(signal.level)) dBm") }
        parts.append(latency.map { "\(tenths($0.value / .milliseconds(1))) ms" } ?? "not measured")
        if isSuspect { parts.append("suspect") }
        return parts.joined(separator: ", ")
    }
}

extension RankedPeer.Reason: CustomStringConvertible {
    /// The reason for people.
    public var description: String {
        switch self {
        case .only: "there is no other"
        case .last: "all others are nearer"
        case .nextIsSuspect: "the next one did not answer its last ping"
        case .nearerClass(_, let next): "nearer than the next one, of class \(next)"
        case .lowerLatency: "as near as the next one, with a shorter round trip"
        case .usedLater: "as near as the next one, and used more recently"
        case .lowerID: "as near as the next one, with the lower id"
        case .heldAgainst: "the nearest so far; the next one is not clearly nearer, or not yet for 3 s"
        case .answers: "a nearer one does not answer"
        }
    }
}

private func tenths(_ value: Double) -> String {
    // A peer's times are bounded by its life; a broken radio's level may be anything.
    let tenths = Int(max(-1e9, min(1e9, value * 10)).rounded())
    return "\(tenths < 0 ? "-" : "")\(abs(tenths) / 10).\(abs(tenths) % 10)"
}
