public import HandoffSupport

/// Why something could not be done with an account; the description says what to do.
///
/// Two errors are equal when their codes are.
public struct AccountError: Error, Equatable, CustomStringConvertible {
    /// The kind of failure.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        private enum Value: String {
            case exists, noAccount, noKey, noMachine, ambiguous, thisMachine, full, invalidName, invalidTeam,
                wrongPassphrase, damaged, files
        }

        private let value: Value

        private init(_ value: Value) { self.value = value }

        /// This machine is of an account already.
        public static let exists = Code(.exists)
        /// This machine is of no account.
        public static let noAccount = Code(.noAccount)
        /// This machine is of an account, but does not hold the key that signs.
        public static let noKey = Code(.noKey)
        /// No machine of the account is called that.
        public static let noMachine = Code(.noMachine)
        /// Several machines of the account are called that.
        public static let ambiguous = Code(.ambiguous)
        /// It is this very machine.
        public static let thisMachine = Code(.thisMachine)
        /// The account has revoked as many machines as it can.
        public static let full = Code(.full)
        /// No account can have that name.
        public static let invalidName = Code(.invalidName)
        /// That is no team ID, or it is named twice, or there are too many.
        public static let invalidTeam = Code(.invalidTeam)
        /// The passphrase is not that of the backup.
        public static let wrongPassphrase = Code(.wrongPassphrase)
        /// A file does not hold what it should.
        public static let damaged = Code(.damaged)
        /// The file system would not do it; the cause has its reason.
        public static let files = Code(.files)

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

    init(_ cause: SystemError) {
        self.init(.files, cause.description, cause: cause)
    }

    /// Two errors are equal when their codes are.
    public static func == (left: AccountError, right: AccountError) -> Bool { left.code == right.code }
}
