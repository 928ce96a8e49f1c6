/// Why services cannot be announced or found.
public struct DiscoveryError: Error, Equatable, CustomStringConvertible {
    /// The kind of a failure.
    public struct Code: Hashable, Sendable {
        private enum Kind: Hashable {
            case noBus
            case noDaemon
            case notPermitted
            case timedOut
            case invalidAnnouncement
            case failed
        }

        private let kind: Kind

        /// The system's message bus cannot be reached.
        public static let noBus = Code(kind: .noBus)
        /// avahi-daemon is not running.
        public static let noDaemon = Code(kind: .noDaemon)
        /// avahi-daemon is configured not to publish services.
        public static let notPermitted = Code(kind: .notPermitted)
        /// No answer came in time.
        public static let timedOut = Code(kind: .timedOut)
        /// The announcement breaks a rule of DNS-SD.
        public static let invalidAnnouncement = Code(kind: .invalidAnnouncement)
        /// Any other failure; `rawCode` tells which.
        public static let failed = Code(kind: .failed)
    }

    /// The kind of the failure.
    public let code: Code
    /// What happened and what to do next, as one line for the user.
    public let message: String
    /// The number the backend gave, where it gave one.
    public let rawCode: Int32?

    /// Records a failure.
    ///
    /// - Parameters:
    ///   - code: Its kind.
    ///   - message: One line for the user that says what to do next.
    ///   - rawCode: The backend's number for it.
    public init(_ code: Code, _ message: String, rawCode: Int32? = nil) {
        self.code = code
        self.message = message
        self.rawCode = rawCode
    }

    /// Two failures are equal when their kind is.
    public static func == (left: DiscoveryError, right: DiscoveryError) -> Bool { left.code == right.code }

    /// The message.
    public var description: String { message }
}

extension DiscoveryError {
    /// Nobody answered for a service before the caller's deadline.
    static func notFound(_ instanceName: String) -> DiscoveryError {
        DiscoveryError(.timedOut, "no answer from \(instanceName): check that it is running on this network")
    }

    /// Somebody waits for a discovery that is over.
    static let ended = DiscoveryError(.failed, "the search for peers has ended")
}
