extension ServiceAnnouncement {
    /// The longest name, in bytes of UTF-8: a DNS label (RFC 6763, 4.1.1).
    public static let instanceNameLimit = 63
    /// The longest string of a TXT record, in bytes (RFC 6763, 6.1).
    public static let stringLimit = 255
    /// The longest TXT record, in bytes with each string's length: what fits one packet (RFC 6763, 6.2).
    public static let textLimit = 1300

    /// Refuses what no daemon must be asked to announce: some of it is cut silently, some never resolves.
    ///
    /// - Throws: `DiscoveryError` with the code `invalidAnnouncement`.
    public func validate() throws(DiscoveryError) {
        guard Self.isValid(instanceName: instanceName) else {
            throw .invalid("its name needs 1 to \(Self.instanceNameLimit) bytes of UTF-8 without control characters")
        }
        guard port != 0 else { throw .invalid("a service needs the port of a socket that listens, not 0") }
        for string in text {
            guard !string.isEmpty else { throw .invalid("a TXT record has no empty strings") }
            guard string.count <= Self.stringLimit else {
                throw .invalid("a TXT string has \(Self.stringLimit) bytes at most, not \(string.count)")
            }
        }
        let size = text.reduce(0) { $0 + 1 + $1.count }
        guard size <= Self.textLimit else {
            throw .invalid("a TXT record has \(Self.textLimit) bytes at most, not \(size)")
        }
    }

    /// True for a name that a daemon may be asked about.
    static func isValid(instanceName: String) -> Bool {
        // C0, DEL and C1; a NUL would cut the name short.
        (1...instanceNameLimit).contains(instanceName.utf8.count)
            && !instanceName.unicodeScalars.contains { $0.properties.generalCategory == .control }
    }
}

extension DiscoveryError {
    fileprivate static func invalid(_ reason: String) -> DiscoveryError {
        DiscoveryError(.invalidAnnouncement, "cannot announce this service: \(reason)")
    }
}
