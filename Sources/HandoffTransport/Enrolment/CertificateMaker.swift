import COpenSSL
import HandoffSupport

/// Makes certificates as certs/README.md describes them.
struct CertificateMaker {
    /// An extension, and its value in the words of x509v3_config(5): ours alone, never a peer's.
    typealias Extension = (nid: CInt, value: String)

    static let authorityExtensions: [Extension] = [
        (NID_basic_constraints, "critical,CA:TRUE,pathlen:0"),
        (NID_key_usage, "critical,keyCertSign,cRLSign"),
        (NID_subject_key_identifier, "hash"),
    ]

    static func machineExtensions(machineID: String) -> [Extension] {
        [
            (NID_basic_constraints, "critical,CA:FALSE"),
            (NID_key_usage, "critical,digitalSignature"),
            (NID_ext_key_usage, "serverAuth,clientAuth"),
            (NID_subject_key_identifier, "hash"),
            (NID_authority_key_identifier, "keyid:always"),
            (NID_subject_alt_name, "URI:handoff:machine:\(machineID)"),
        ]
    }

    /// The subject's fields, in their order.
    let subject: [(field: String, value: String)]
    /// When the certificate's time begins, in seconds since 1970.
    let notBefore: Int64
    /// When it is over; nil for never (RFC 5280, section 4.1.2.5).
    let notAfter: Int64?
    let extensions: [Extension]

    /// Makes a certificate for a public key.
    ///
    /// - Parameters:
    ///   - key: The `EVP_PKEY` that it is about, lent.
    ///   - issuer: Who signs; nil for the key itself.
    ///   - issuerKey: What it signs with.
    func make(for key: OpaquePointer, issuer: Certificate?, issuerKey: PrivateKey) -> Certificate {
        guard let handle = X509_new() else { preconditionFailure("out of memory") }
        let certificate = Certificate(takingOwnership: handle)
        X509_set_version(handle, 2)  // v3 is counted from zero
        setSerial(of: handle)
        X509_set_pubkey(handle, key)
        ASN1_TIME_set(X509_getm_notBefore(handle), time_t(notBefore))
        if let notAfter {
            ASN1_TIME_set(X509_getm_notAfter(handle), time_t(notAfter))
        } else {
            ASN1_TIME_set_string(X509_getm_notAfter(handle), "99991231235959Z")
        }
        let name = X509_get_subject_name(handle)
        for (field, value) in subject {
            let added = X509_NAME_add_entry_by_txt(name, field, MBSTRING_FLAG, value, -1, -1, 0)
            precondition(added == 1, "the caller checks names")
        }
        if let issuer {
            issuer.withHandle { issuer in
                X509_set_issuer_name(handle, X509_get_subject_name(issuer))
                addExtensions(to: handle, issuer: issuer)
            }
        } else {
            X509_set_issuer_name(handle, name)
            addExtensions(to: handle, issuer: handle)
        }
        let length = issuerKey.withHandle { X509_sign(handle, $0, EVP_sha256()) }
        precondition(length > 0, "OpenSSL does not sign")
        return certificate
    }

    /// 16 random bytes, the top bit clear: a serial is a positive number.
    private func setSerial(of certificate: OpaquePointer) {
        var bytes = Crypto.randomBytes(16)
        bytes[0] &= 0x7f
        let number = BN_bin2bn(bytes, CInt(bytes.count), nil)
        BN_to_ASN1_INTEGER(number, X509_get_serialNumber(certificate))
        BN_free(number)
    }

    private func addExtensions(to certificate: OpaquePointer, issuer: OpaquePointer) {
        var context = v3_ext_ctx()
        X509V3_set_ctx(&context, issuer, certificate, nil, nil, 0)
        for (nid, value) in extensions {
            guard let made = X509V3_EXT_conf_nid(nil, &context, nid, value) else {
                preconditionFailure("OpenSSL refuses the extension \(value)")
            }
            X509_add_ext(certificate, made, -1)
            X509_EXTENSION_free(made)
        }
    }
}
