import COpenSSL

/// Collects what one of OpenSSL's functions writes into a BIO.
///
/// - Returns: Nil where it does not succeed.
func written(_ write: (OpaquePointer) -> CInt) -> [UInt8]? {
    guard let bio = BIO_new(BIO_s_mem()) else { preconditionFailure("out of memory") }
    defer {
        BIO_free(bio)
        ERR_clear_error()
    }
    guard write(bio) == 1 else { return nil }
    var bytes: UnsafeMutablePointer<CChar>?
    let count = COpenSSL_BIO_get_mem_data(bio, &bytes)
    return bytes.map { Array(UnsafeRawBufferPointer(start: $0, count: count)) }
}

/// Lends bytes to one of OpenSSL's functions that reads from a BIO.
func reading<Result>(_ bytes: [UInt8], _ read: (OpaquePointer) -> Result?) -> Result? {
    guard let bio = BIO_new_mem_buf(bytes, CInt(clamping: bytes.count)) else { return nil }
    defer {
        BIO_free(bio)
        ERR_clear_error()
    }
    return read(bio)
}

/// Decodes DER by one of OpenSSL's d2i functions.
///
/// - Returns: Nil where it is malformed, or something follows it.
func decoded(
    _ der: [UInt8],
    _ decode: (UnsafeMutablePointer<UnsafePointer<UInt8>?>, CLong) -> OpaquePointer?,
    free: (OpaquePointer) -> Void
) -> OpaquePointer? {
    defer { ERR_clear_error() }
    return der.withUnsafeBufferPointer { buffer in
        var position = buffer.baseAddress
        guard let handle = decode(&position, CLong(buffer.count)) else { return nil }
        guard let base = buffer.baseAddress, position == base + buffer.count else {
            free(handle)
            return nil
        }
        return handle
    }
}

extension Certificate {
    /// Reads a certificate from DER; nil where there is none, or something besides.
    convenience init?(der: [UInt8]) {
        guard let handle = decoded(der, { d2i_X509(nil, $0, $1) }, free: { X509_free($0) }) else { return nil }
        self.init(takingOwnership: handle)
    }

    /// The certificate in PEM.
    var pem: [UInt8] {
        withHandle { handle in written { PEM_write_bio_X509($0, handle) } } ?? []
    }

    /// The subject's common name; empty where there is none.
    var commonName: String {
        withHandle { handle in
            guard let subject = X509_get_subject_name(handle) else { return "" }
            let index = X509_NAME_get_index_by_NID(subject, NID_commonName, -1)
            guard index >= 0, let entry = X509_NAME_get_entry(subject, index) else { return "" }
            var text: UnsafeMutablePointer<UInt8>?
            let count = ASN1_STRING_to_UTF8(&text, X509_NAME_ENTRY_get_data(entry))
            guard count >= 0, let text else { return "" }
            defer { COpenSSL_OPENSSL_free(text) }
            return String(decoding: UnsafeBufferPointer(start: text, count: Int(count)), as: UTF8.self)
        }
    }
}

extension PrivateKey {
    /// Makes a new P-256 key.
    static func make() -> PrivateKey {
        guard let handle = COpenSSL_EVP_EC_gen("P-256") else { preconditionFailure("OpenSSL makes no key") }
        return PrivateKey(takingOwnership: handle)
    }

    /// The key in PEM (PKCS#8), without a passphrase: for a file of mode 0600.
    var pem: [UInt8] {
        withHandle { handle in written { PEM_write_bio_PKCS8PrivateKey($0, handle, nil, nil, 0, nil, nil) } } ?? []
    }
}
