import Handoff

/// What a peer's place in the order rests on, for `--explain`.
struct Nearness: Encodable {
    private enum CodingKeys: String, CodingKey {
        case proximityClass = "class"
        case bursts, zone, reason
        case ageSeconds = "age_s"
        case signal = "rssi_dbm"
        case isSuspect = "suspect"
    }

    /// For people.
    let text: String

    private let proximityClass: Int
    private let bursts: Int
    private let ageSeconds: Double?
    private let signal: Double?
    private let zone: String?
    private let isSuspect: Bool
    private let reason: String

    init(_ ranked: RankedPeer, at now: Duration) {
        let sample = ranked.sample
        proximityClass = sample.proximityClass
        let bursts = sample.latency?.burstCount ?? 0
        self.bursts = bursts
        ageSeconds = sample.latency.map { ((now - $0.time) / .milliseconds(100)).rounded() / 10 }
        signal = sample.signal?.level
        zone = sample.signal.map { "\($0.zone)" }
        isSuspect = sample.isSuspect
        reason = "\(ranked.reason)"
        let age = ageSeconds.map { " (\(bursts) \(bursts == 1 ? "burst" : "bursts"), \($0) s ago)" } ?? ""
        text = "\(sample)\(age)\(signal == nil ? ", no signal" : ""): \(ranked.reason)"
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(proximityClass, forKey: .proximityClass)
        try container.encode(bursts, forKey: .bursts)
        try container.encode(ageSeconds, forKey: .ageSeconds)
        try container.encode(signal, forKey: .signal)
        try container.encode(zone, forKey: .zone)
        try container.encode(isSuspect, forKey: .isSuspect)
        try container.encode(reason, forKey: .reason)
    }
}
