import COpenSSL

/// The one thing this machine trusts: certificates issued directly by its own account's CA.
struct TrustStore: ~Copyable {
    private let store: OpaquePointer

    /// Trusts an account, and nothing else: the system's certificate authorities are never consulted.
    init(account: Certificate) {
        guard let store = X509_STORE_new() else { preconditionFailure("out of memory") }
        _ = account.withHandle { X509_STORE_add_cert(store, $0) }
        // Leaf and root: no intermediate may stand between. STRICT wants the extensions that RFC 5280 does.
        let parameters = X509_STORE_get0_param(store)
        X509_VERIFY_PARAM_set_depth(parameters, 0)
        X509_VERIFY_PARAM_set_flags(parameters, CUnsignedLong(X509_V_FLAG_X509_STRICT))
        self.store = store
    }

    deinit { X509_STORE_free(store) }

    /// Makes the connections of a context judge certificates by this store.
    func install(in context: OpaquePointer) {
        X509_STORE_up_ref(store)
        SSL_CTX_set_cert_store(context, store)  // takes the reference
        SSL_CTX_set1_param(context, X509_STORE_get0_param(store))
    }

    /// Judges a certificate outside of a handshake; nil means it is good.
    ///
    /// - Parameters:
    ///   - certificate: The certificate.
    ///   - now: The time, in seconds since 1970; nil for the system's.
    func judge(_ certificate: Certificate, at now: Int64? = nil) -> TransportError.Code? {
        guard let context = X509_STORE_CTX_new() else { preconditionFailure("out of memory") }
        defer {
            X509_STORE_CTX_free(context)
            ERR_clear_error()
        }
        return certificate.withHandle { certificate in
            guard X509_STORE_CTX_init(context, store, certificate, nil) == 1 else { return .badCertificate }
            if let now { X509_STORE_CTX_set_time(context, 0, time_t(now)) }
            guard X509_verify_cert(context) != 1 else { return nil }
            return TransportError.Code(verification: X509_STORE_CTX_get_error(context))
        }
    }
}
