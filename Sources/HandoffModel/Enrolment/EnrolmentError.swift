/// Why a machine was not enrolled; the description says what to do.
///
/// Two errors are equal when their codes are.
public struct EnrolmentError: Error, Equatable, CustomStringConvertible {
    /// The kind of failure.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        private enum Value: String {
            case malformedCode, wrongCode, noInvitation, expired, tooManyTries
            case clocksDiffer, refused, protocolViolation, untrustworthy, unreachable
        }

        private let value: Value

        private init(_ value: Value) { self.value = value }

        /// What was typed is no code.
        public static let malformedCode = Code(.malformedCode)
        /// The code is not that of the invitation.
        public static let wrongCode = Code(.wrongCode)
        /// There is no invitation where it was looked for.
        public static let noInvitation = Code(.noInvitation)
        /// Nobody used the invitation in its time.
        public static let expired = Code(.expired)
        /// Wrong codes were tried until the invitation ended.
        public static let tooManyTries = Code(.tooManyTries)
        /// The clocks of the two machines are too far apart for certificates.
        public static let clocksDiffer = Code(.clocksDiffer)
        /// The other machine does not go on; the description has its words.
        public static let refused = Code(.refused)
        /// What the other machine sent breaks the protocol.
        public static let protocolViolation = Code(.protocolViolation)
        /// What the other machine issued would not be accepted by any peer.
        public static let untrustworthy = Code(.untrustworthy)
        /// The network did not carry the enrolment.
        public static let unreachable = Code(.unreachable)

        /// The code's name.
        public var description: String { value.rawValue }
    }

    /// The kind of failure.
    public let code: Code
    /// One line that says what is wrong and what to do.
    public let description: String

    /// Makes an error.
    ///
    /// - Parameters:
    ///   - code: The kind of failure.
    ///   - description: One line that says what is wrong and what to do.
    public init(_ code: Code, _ description: String) {
        self.code = code
        self.description = description
    }

    /// Two errors are equal when their codes are.
    public static func == (left: EnrolmentError, right: EnrolmentError) -> Bool { left.code == right.code }
}
