/// Why a handoff did not happen.
///
/// Errors are equal when their codes are. The raw values below 5000 are those of Apple's `NSCocoaErrorDomain`, so that
/// a program which knows `NSUserActivity` finds what it expects.
public struct HandoffError: Error, Hashable, Sendable, CustomStringConvertible {
    private enum Kind: Int {
        case cancelled = 3072
        case streamsUnsupported = 3328
        case handoffFailed = 4608
        case connectionUnavailable = 4609
        case remoteApplicationTimedOut = 4610
        case userInfoTooLarge = 4611
        case refused = 5000
        case versionUnsupported = 5001
        case notPaired = 5002
        case expired = 5003
        case missingKey = 5004
        case invalidActivity = 5005
    }

    /// What kind of failure it is.
    public struct Code: Hashable, Sendable {
        private let kind: Kind

        private init(_ kind: Kind) { self.kind = kind }

        /// The number that travels on the wire.
        public var rawValue: Int { kind.rawValue }

        /// Finds the code with a number; numbers of newer versions count as `handoffFailed`.
        public init(rawValue: Int) { kind = Kind(rawValue: rawValue) ?? .handoffFailed }

        /// The data is not available: the activity ended or its peer is gone.
        public static let handoffFailed = Code(.handoffFailed)
        /// No link to the peer, and none could be made.
        public static let connectionUnavailable = Code(.connectionUnavailable)
        /// The peer's app did not save its state in time.
        public static let remoteApplicationTimedOut = Code(.remoteApplicationTimedOut)
        /// The saved userInfo is over the limit of ``ActivityPayload/maximumUserInfoSize``.
        public static let userInfoTooLarge = Code(.userInfoTooLarge)
        /// The continuation was given up, by the user or for a newer one.
        public static let cancelled = Code(.cancelled)
        /// Streams were asked of an activity that has none.
        public static let streamsUnsupported = Code(.streamsUnsupported)
        /// An app, here or there, did not want it.
        public static let refused = Code(.refused)
        /// The two ends share no protocol version.
        public static let versionUnsupported = Code(.versionUnsupported)
        /// The peer is not of this account and team, or its proof is not valid.
        public static let notPaired = Code(.notPaired)
        /// The activity's time is over.
        public static let expired = Code(.expired)
        /// A required key is missing from userInfo.
        public static let missingKey = Code(.missingKey)
        /// The activity's type or userInfo breaks a rule; the message names it.
        public static let invalidActivity = Code(.invalidActivity)
    }

    /// What kind of failure it is.
    public let code: Code
    /// One line for people: what happened and, where there is something to do, what.
    public let message: String
    /// Why the peer is not paired, for ``Code/notPaired``.
    public let pairing: PairingFailure?
    /// The key that is missing from userInfo, for ``Code/missingKey``.
    public let key: String?

    /// Makes an error.
    ///
    /// - Parameters:
    ///   - code: The kind of failure.
    ///   - message: One line for people.
    ///   - pairing: Why the peer is not paired, where that is the failure.
    ///   - key: The key that is missing from userInfo, where that is the failure.
    public init(_ code: Code, _ message: String, pairing: PairingFailure? = nil, key: String? = nil) {
        self.code = code
        self.message = message
        self.pairing = pairing
        self.key = key
    }

    /// The failure of an activity whose userInfo lacks a key, or has something else under it than the app can read.
    public static func missingKey(_ key: String) -> HandoffError {
        HandoffError(.missingKey, "the activity has no proper \"\(key)\": is the other app newer or broken?", key: key)
    }

    /// Two errors are equal when their codes are.
    public static func == (left: HandoffError, right: HandoffError) -> Bool { left.code == right.code }

    /// Hashes the code alone.
    public func hash(into hasher: inout Hasher) { hasher.combine(code) }

    /// The message.
    public var description: String { message }
}
