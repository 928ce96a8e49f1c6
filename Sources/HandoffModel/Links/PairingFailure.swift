/// Why two peers are not paired; the same words at both ends, in `bye`, in the log and in `discover`.
public struct PairingFailure: RawRepresentable, Error, Hashable, Sendable, CustomStringConvertible {
    /// The word that travels on the wire.
    public let rawValue: String

    /// Takes a word; one of a newer version is kept as it is.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// The word of a good-bye; one that is no refusal stands for itself.
    public init(_ reason: ByeReason) { self.init(rawValue: reason.wire) }

    /// The certificate was issued by another account.
    public static let otherAccount = PairingFailure(rawValue: "otherAccount")
    /// The certificate's organisational unit is not exactly one and ours.
    public static let otherTeam = PairingFailure(rawValue: "otherTeam")
    /// The certificate's time is over.
    public static let certificateExpired = PairingFailure(rawValue: "certificateExpired")
    /// The certificate's time has not begun.
    public static let certificateNotYetValid = PairingFailure(rawValue: "certificateNotYetValid")
    /// The certificate vouches for itself alone.
    public static let selfSigned = PairingFailure(rawValue: "selfSigned")
    /// The certificate was revoked by the account.
    public static let revoked = PairingFailure(rawValue: "revoked")
    /// The certificate is broken in another way, or is not one of a machine.
    public static let badCertificate = PairingFailure(rawValue: "badCertificate")
    /// No certificate was shown.
    public static let noCertificate = PairingFailure(rawValue: "noCertificate")
    /// TLS below 1.3.
    public static let tlsVersion = PairingFailure(rawValue: "tlsVersion")
    /// The ALPN protocol was not agreed on.
    public static let applicationProtocol = PairingFailure(rawValue: "applicationProtocol")
    /// The ClientHello carried no proof of knowing the account's discovery key, or a wrong or repeated one.
    public static let notOfThisAccount = PairingFailure(rawValue: "notOfThisAccount")
    /// The peer is this very process.
    public static let ourselves = PairingFailure(rawValue: "ourselves")
    /// Another machine answered than the one that was meant.
    public static let otherMachine = PairingFailure(rawValue: "otherMachine")
    /// No protocol version in common.
    public static let versionUnsupported = PairingFailure(rawValue: "versionUnsupported")
    /// A message that is malformed, too long or out of order.
    public static let protocolViolation = PairingFailure(rawValue: "protocolViolation")
    /// No answer in time.
    public static let timedOut = PairingFailure(rawValue: "timedOut")
    /// No connection could be made.
    public static let unreachable = PairingFailure(rawValue: "unreachable")
    /// No host has the name that was to be dialled.
    public static let unknownHost = PairingFailure(rawValue: "unknownHost")
    /// The other end hung up without a reason.
    public static let connectionLost = PairingFailure(rawValue: "connectionLost")

    /// The peer holds as many links as it can.
    public static let busy = PairingFailure(.busy)

    /// One clause for people: what is wrong and, where there is something to do, what.
    public var description: String {
        switch self {
        case .otherAccount: "it belongs to another account"
        case .otherTeam: "it belongs to another team"
        case .certificateExpired: "the certificate has expired: renew it, or check both machines' clocks"
        case .certificateNotYetValid: "the certificate is not valid yet: check both machines' clocks"
        case .selfSigned: "the certificate is self-signed, not issued by the account"
        case .revoked: "the machine was removed from the account"
        case .badCertificate: "the certificate is not one of a machine of this account"
        case .noCertificate: "no certificate was shown"
        case .tlsVersion: "it does not speak TLS 1.3"
        case .applicationProtocol: "it does not speak the handoff protocol"
        case .notOfThisAccount: "it is not of this account, or could not prove that it is"
        case .ourselves: "it is this very peer"
        case .otherMachine: "another machine answered at that address"
        case .versionUnsupported: "it speaks no protocol version that this one speaks: update the older one"
        case .protocolViolation: "it broke the protocol"
        case .timedOut: "it did not answer in time"
        case .unreachable: "no connection could be made: is its port open in the firewall?"
        case .unknownHost: "no host of that name is known"
        case .connectionLost: "the connection was lost"
        case .busy: "it holds as many links as it can"
        default: "it refused: \(rawValue)"
        }
    }
}

/// Why a link ended, as `bye` says it.
public enum ByeReason: Hashable, Sendable {
    /// The peer stops.
    case leaving
    /// Another link between the same two peers stays.
    case duplicate
    /// A visitor has got what it came for.
    case done
    /// As many links as the peer can hold.
    case busy
    /// The two are not paired, or no more.
    case refused(PairingFailure)

    init(wire: String) {
        switch wire {
        case "leaving": self = .leaving
        case "duplicate": self = .duplicate
        case "done": self = .done
        case "busy": self = .busy
        default: self = .refused(PairingFailure(rawValue: wire))
        }
    }

    var wire: String {
        switch self {
        case .leaving: "leaving"
        case .duplicate: "duplicate"
        case .done: "done"
        case .busy: "busy"
        case .refused(let failure): failure.rawValue
        }
    }
}
