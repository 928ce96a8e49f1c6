public import HandoffSupport

/// Why a machine's identity could not be loaded; the description says what to do about it.
///
/// Two errors are equal when their codes are.
public struct IdentityError: Error, Equatable, CustomStringConvertible {
    /// The kind of failure.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        private enum Value: String {
            case noIdentity, permissions, unreadable, malformed, keyMismatch, notOfAccount, expired, notYetValid
        }

        private let value: Value

        private init(_ value: Value) { self.value = value }

        /// There is no identity in the directory, or a file of it is missing.
        public static let noIdentity = Code(.noIdentity)
        /// Somebody else could read or replace a secret.
        public static let permissions = Code(.permissions)
        /// The system would not read a file; the cause has its reason.
        public static let unreadable = Code(.unreadable)
        /// A file does not hold what it should.
        public static let malformed = Code(.malformed)
        /// The private key is not the certificate's.
        public static let keyMismatch = Code(.keyMismatch)
        /// The certificate was not issued by the account beside it.
        public static let notOfAccount = Code(.notOfAccount)
        /// The certificate's time is over.
        public static let expired = Code(.expired)
        /// The certificate's time has not come.
        public static let notYetValid = Code(.notYetValid)

        /// The code's name.
        public var description: String { value.rawValue }
    }

    /// The kind of failure.
    public let code: Code
    /// One line that says what is wrong and what to do.
    public let description: String
    /// The failed system call behind it.
    public let cause: SystemError?

    init(_ code: Code, _ description: String, cause: SystemError? = nil) {
        self.code = code
        self.description = description
        self.cause = cause
    }

    /// Two errors are equal when their codes are.
    public static func == (left: IdentityError, right: IdentityError) -> Bool { left.code == right.code }
}
