import HandoffModel
import HandoffTransport

extension PairingFailure {
    /// The word for why a connection failed.
    init(_ error: any Error) {
        guard let error = error as? TransportError else {
            self = .connectionLost
            return
        }
        self =
            switch error.code {
            case .otherAccount: .otherAccount
            case .selfSigned: .selfSigned
            case .certificateExpired: .certificateExpired
            case .certificateNotYetValid: .certificateNotYetValid
            case .certificateRevoked: .revoked
            case .badCertificate: .badCertificate
            case .noCertificate: .noCertificate
            case .tlsVersion: .tlsVersion
            case .applicationProtocol: .applicationProtocol
            case .missingProof: .notOfThisAccount
            case .otherMachine: .otherMachine
            case .timedOut: .timedOut
            case .unreachable: .unreachable
            default: .connectionLost
            }
    }
}
