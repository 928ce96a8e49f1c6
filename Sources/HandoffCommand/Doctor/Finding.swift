import CommandLineKit

/// One thing that `handoff doctor` has looked at.
struct Finding: Encodable {
    private enum CodingKeys: String, CodingKey {
        case check, state, message, advice
    }

    enum State: String, Encodable {
        case ok
        case warning
        case error
    }

    /// What was looked at; one of a fixed set of words.
    let check: String
    let state: State
    /// What was seen.
    let message: String
    /// The one thing to do; nil where there is nothing.
    let advice: String?

    static func ok(_ check: String, _ message: String) -> Finding {
        Finding(check: check, state: .ok, message: message, advice: nil)
    }

    static func warning(_ check: String, _ message: String, do advice: String?) -> Finding {
        Finding(check: check, state: .warning, message: message, advice: advice)
    }

    static func error(_ check: String, _ message: String, do advice: String?) -> Finding {
        Finding(check: check, state: .error, message: message, advice: advice)
    }

    /// Writes what there is not as `null`, as the other documents do.
    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(check, forKey: .check)
        try container.encode(state, forKey: .state)
        try container.encode(message, forKey: .message)
        try container.encode(advice, forKey: .advice)
    }
}

/// All of them.
struct Findings: Encodable {
    private enum CodingKeys: String, CodingKey {
        case isHealthy = "healthy"
        case findings = "checks"
    }

    let findings: [Finding]
    let isHealthy: Bool

    init(_ findings: [Finding]) {
        self.findings = findings
        isHealthy = !findings.contains { $0.state == .error }
    }

    /// One line for each, and below it what to do.
    func text() -> String {
        findings.map { finding in
            let state = finding.state.rawValue.padded(to: 7)
            let line = "\(state)  \(finding.check.padded(to: 11))  \(printable(finding.message))\n"
            return line + (finding.advice.map { "         \("".padded(to: 11))  → \(printable($0))\n" } ?? "")
        }
        .joined()
    }
}

extension String {
    fileprivate func padded(to width: Int) -> String {
        self + String(repeating: " ", count: max(0, width - count))
    }
}
