import HandoffSupport

/// What a resolver told of a service: its host, one address, and its TXT record.
struct ServiceAnswer: Hashable, Sendable {
    let hostName: String
    let address: SocketAddress
    let text: [[UInt8]]
}

/// What is known of one service: its appearances, merged into one.
struct ServiceRecord {
    /// How far the search for the address of one appearance has come.
    enum Phase: Equatable {
        case queued
        case resolving(AvahiObjectID)
        case pausing(until: Duration)
        /// It was answered, or has failed too often.
        case resting
    }

    /// One appearance of the service.
    struct Appearance {
        /// False while a new browser has not told it again.
        var isSeen = true
        var phase = Phase.resting
        var failures = 0
        var answer: ServiceAnswer?
        var answeredAt: Duration = .zero
    }

    var appearances: [ServicePlace: Appearance] = [:]
    /// What users were told last.
    var reported: DiscoveredService?

    /// The same service before a new browser has told any of its appearances.
    func unseen() -> ServiceRecord {
        var record = self
        record.appearances = appearances.mapValues { appearance in
            var appearance = appearance
            appearance.isSeen = false
            appearance.phase = .resting
            return appearance
        }
        return record
    }

    /// All appearances as one service; nil before the first answer.
    ///
    /// Where answers contradict each other, the latest counts.
    func merged(instanceName: String) -> DiscoveredService? {
        let answered = appearances.sorted { $0.key < $1.key }.map(\.value).filter { $0.answer != nil }
        guard let latest = answered.max(by: { $0.answeredAt < $1.answeredAt })?.answer else { return nil }
        var addresses: [SocketAddress] = []
        for case let answer? in answered.map(\.answer) where !addresses.contains(answer.address) {
            addresses.append(answer.address)
        }
        return DiscoveredService(
            instanceName: instanceName,
            hostName: latest.hostName,
            addresses: addresses,
            text: latest.text
        )
    }
}
