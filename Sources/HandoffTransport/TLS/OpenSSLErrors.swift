import COpenSSL
import HandoffSupport

/// How OpenSSL's failures become typed ones, and typed ones the alerts that the other end can tell apart.
///
/// A verification failure is sent as an alert chosen by its X509_V_ERR code (RFC 8446, section 6.2; OpenSSL's table in
/// statem_lib.c). Each refusal gets a code whose alert no other refusal uses, so the mapping can be read backwards.
extension TransportError.Code {
    /// What a failed verification means; OpenSSL's own code in the verification context.
    init(verification code: CInt) {
        switch code {
        case X509_V_ERR_CERT_HAS_EXPIRED: self = .certificateExpired
        case X509_V_ERR_CERT_NOT_YET_VALID: self = .certificateNotYetValid
        case X509_V_ERR_CERT_REVOKED: self = .certificateRevoked
        case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT: self = .selfSigned
        case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY, X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT,
            X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE, X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN,
            X509_V_ERR_CERT_SIGNATURE_FAILURE, X509_V_ERR_CERT_CHAIN_TOO_LONG:
            self = .otherAccount
        default: self = .badCertificate
        }
    }

    /// The X509_V_ERR code to leave in the verification context, so that the right alert is sent.
    var verificationCode: CInt {
        switch self {
        case .certificateExpired: X509_V_ERR_CERT_HAS_EXPIRED  // certificate_expired, 45
        case .certificateNotYetValid: X509_V_ERR_CERT_NOT_YET_VALID  // bad_certificate, 42
        case .certificateRevoked: X509_V_ERR_CERT_REVOKED  // certificate_revoked, 44
        case .otherAccount: X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY  // unknown_ca, 48
        case .selfSigned: X509_V_ERR_OCSP_CERT_UNKNOWN  // not in OpenSSL's table: certificate_unknown, 46
        default: X509_V_ERR_INVALID_PURPOSE  // unsupported_certificate, 43
        }
    }

    /// What a fatal alert from the other end means; nil for one that this protocol has no reason for.
    init?(alert: CInt) {
        switch alert {
        case SSL3_AD_HANDSHAKE_FAILURE: self = .missingProof
        case SSL3_AD_BAD_CERTIFICATE: self = .certificateNotYetValid
        case SSL3_AD_UNSUPPORTED_CERTIFICATE, TLS1_AD_DECRYPT_ERROR: self = .badCertificate
        case SSL3_AD_CERTIFICATE_REVOKED: self = .certificateRevoked
        case SSL3_AD_CERTIFICATE_EXPIRED: self = .certificateExpired
        case SSL3_AD_CERTIFICATE_UNKNOWN: self = .selfSigned
        case TLS1_AD_UNKNOWN_CA: self = .otherAccount
        case TLS1_AD_PROTOCOL_VERSION: self = .tlsVersion
        case TLS13_AD_CERTIFICATE_REQUIRED: self = .noCertificate
        case TLS1_AD_NO_APPLICATION_PROTOCOL: self = .applicationProtocol
        default: return nil
        }
    }
}

extension TransportError {
    /// Reads a failure out of an entry of OpenSSL's error queue.
    init(openSSL code: CUnsignedLong) {
        let reason = ERR_GET_REASON(code)
        let alert = reason - SSL_AD_REASON_OFFSET
        if ERR_GET_LIB(code) == ERR_LIB_SSL, (0...255).contains(alert) {
            self =
                Code(alert: alert).map { TransportError($0, refusedBy: .them) }
                ?? TransportError(.tlsFailure, refusedBy: .them, detail: Self.text(of: code))
            return
        }
        switch reason {
        case SSL_R_UNSUPPORTED_PROTOCOL, SSL_R_WRONG_SSL_VERSION, SSL_R_UNKNOWN_PROTOCOL:
            self.init(.tlsVersion, refusedBy: .us)
        case SSL_R_PEER_DID_NOT_RETURN_A_CERTIFICATE: self.init(.noCertificate, refusedBy: .us)
        // A certificate without its key; OpenSSL sends decrypt_error, 51.
        case SSL_R_BAD_SIGNATURE: self.init(.badCertificate, refusedBy: .us)
        case SSL_R_NO_APPLICATION_PROTOCOL: self.init(.applicationProtocol, refusedBy: .us)
        case SSL_R_UNEXPECTED_EOF_WHILE_READING: self.init(.truncated)
        default: self.init(.tlsFailure, refusedBy: .us, detail: Self.text(of: code))
        }
    }

    /// OpenSSL's words for an entry of its error queue.
    static func text(of code: CUnsignedLong) -> String {
        guard code != 0, let reason = ERR_reason_error_string(code) else { return "unknown reason" }
        return String(cString: reason)
    }
}
