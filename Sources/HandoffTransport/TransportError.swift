public import HandoffSupport

/// Why a connection could not be made, was refused, or ended.
///
/// Two errors are equal when their codes are.
public struct TransportError: Error, Equatable, CustomStringConvertible {
    /// The kind of failure.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        private enum Value: String {
            case otherAccount, selfSigned, certificateExpired, certificateNotYetValid, certificateRevoked
            case noCertificate, badCertificate, otherMachine
            case tlsVersion, applicationProtocol, missingProof, tlsFailure
            case unreachable, timedOut, truncated, closed
            case portInUse, cannotListen, tooManyConnections
        }

        private let value: Value

        private init(_ value: Value) { self.value = value }

        /// The certificate was issued by another account.
        public static let otherAccount = Code(.otherAccount)
        /// The certificate was issued by nobody but itself.
        public static let selfSigned = Code(.selfSigned)
        /// The certificate's time is over.
        public static let certificateExpired = Code(.certificateExpired)
        /// The certificate's time has not come; usually a clock is wrong.
        public static let certificateNotYetValid = Code(.certificateNotYetValid)
        /// The account has revoked the certificate.
        public static let certificateRevoked = Code(.certificateRevoked)
        /// No certificate was shown.
        public static let noCertificate = Code(.noCertificate)
        /// The certificate is wrong in another way: its purpose, its key, its form.
        public static let badCertificate = Code(.badCertificate)
        /// The certificate is good, but names another machine than the one dialled.
        public static let otherMachine = Code(.otherMachine)
        /// The other end does not speak TLS 1.3.
        public static let tlsVersion = Code(.tlsVersion)
        /// The two ends have no application protocol (ALPN) in common.
        public static let applicationProtocol = Code(.applicationProtocol)
        /// The dialler did not prove that it knows the account's discovery key.
        public static let missingProof = Code(.missingProof)
        /// TLS failed in a way that has no code of its own; the detail has OpenSSL's words.
        public static let tlsFailure = Code(.tlsFailure)
        /// The network did not carry the connection; the cause has the system's reason.
        public static let unreachable = Code(.unreachable)
        /// A step took longer than it may; the detail names the step.
        public static let timedOut = Code(.timedOut)
        /// The connection ended without TLS's close_notify: what was read may be incomplete.
        public static let truncated = Code(.truncated)
        /// The connection was closed at this end.
        public static let closed = Code(.closed)
        /// Another program listens on the port.
        public static let portInUse = Code(.portInUse)
        /// The system does not let this process listen; the cause has its reason.
        public static let cannotListen = Code(.cannotListen)
        /// There are more connections than this process takes.
        public static let tooManyConnections = Code(.tooManyConnections)

        /// The code's name.
        public var description: String { value.rawValue }
    }

    /// Which end refused the other.
    public enum Refuser: Sendable {
        /// This end refused the remote one.
        case us
        /// The remote end refused this one, and said why in a TLS alert.
        case them
    }

    /// The kind of failure.
    public let code: Code
    /// Which end refused the other; nil where nobody refused.
    public let refusedBy: Refuser?
    /// What the code alone does not say, or an empty string.
    public let detail: String
    /// The failed system call behind it.
    public let cause: SystemError?

    /// Makes an error.
    ///
    /// - Parameters:
    ///   - code: The kind of failure.
    ///   - refusedBy: Which end refused the other.
    ///   - detail: What the code alone does not say.
    ///   - cause: The failed system call behind it.
    public init(_ code: Code, refusedBy: Refuser? = nil, detail: String = "", cause: SystemError? = nil) {
        self.code = code
        self.refusedBy = refusedBy
        self.detail = detail
        self.cause = cause
    }

    /// Two errors are equal when their codes are.
    public static func == (left: TransportError, right: TransportError) -> Bool { left.code == right.code }

    /// One line that says what happened and, where somebody can do something, what.
    public var description: String {
        let additions = [detail, cause.map(\.description) ?? ""].filter { !$0.isEmpty }.joined(separator: ": ")
        return additions.isEmpty ? message : "\(message) (\(additions))"
    }

    private var message: String {
        let theirs = refusedBy == .them ? "this machine's certificate" : "the peer's certificate"
        let refuser = refusedBy == .them ? "the peer refused this machine: " : ""
        switch code {
        case .otherAccount: return "\(refuser)\(theirs) belongs to another account"
        case .selfSigned: return "\(refuser)\(theirs) is signed by itself, not by the account"
        case .certificateExpired: return "\(refuser)\(theirs) has expired; make a new one"
        case .certificateNotYetValid: return "\(refuser)\(theirs) is not valid yet; check both machines' clocks"
        case .certificateRevoked: return "\(refuser)\(theirs) has been revoked; enrol the machine again"
        case .noCertificate: return "\(refuser)no certificate was shown"
        case .badCertificate: return "\(refuser)\(theirs) cannot be used here"
        case .otherMachine: return "another machine than the expected one answered"
        case .tlsVersion: return "\(refuser)TLS 1.3 is needed"
        case .applicationProtocol: return "\(refuser)no application protocol in common"
        case .missingProof: return "\(refuser)the dialler is not of this account (no valid proof of its discovery key)"
        case .tlsFailure: return "\(refuser)TLS failed"
        case .unreachable: return "unreachable"
        case .timedOut: return "timed out"
        case .truncated: return "the connection ended without a goodbye"
        case .closed: return "the connection is closed"
        case .portInUse: return "the port is in use by another program; choose another or stop that program"
        case .cannotListen: return "cannot listen for connections"
        case .tooManyConnections: return "too many connections"
        default: return code.description
        }
    }
}
