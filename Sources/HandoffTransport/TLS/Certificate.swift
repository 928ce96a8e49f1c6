import COpenSSL
import Glibc
import HandoffSupport

/// An X.509 certificate of OpenSSL's, with one owner.
final class Certificate: @unchecked Sendable {  // never changed after it was read; OpenSSL caches under its own lock
    private let handle: OpaquePointer

    /// Takes ownership of an `X509`.
    init(takingOwnership handle: OpaquePointer) {
        self.handle = handle
    }

    /// Reads the first certificate of a PEM text; nil where there is none.
    convenience init?(pem: [UInt8]) {
        guard let handle = withPEM(pem, { PEM_read_bio_X509($0, nil, refusePassphrase, nil) }) else { return nil }
        self.init(takingOwnership: handle)
    }

    deinit { X509_free(handle) }

    /// Lends the `X509`.
    func withHandle<Result>(_ body: (OpaquePointer) throws -> Result) rethrows -> Result {
        try withExtendedLifetime(self) { try body(handle) }
    }

    /// The whole certificate in DER.
    var der: [UInt8] { encoded { i2d_X509(handle, $0) } }

    /// SHA-256 of the DER SubjectPublicKeyInfo.
    var publicKeyHash: [UInt8] { Crypto.sha256(encoded { i2d_X509_PUBKEY(X509_get_X509_PUBKEY(handle), $0) }) }

    /// The serial number in lower-case hexadecimal.
    var serial: String {
        guard let serial = X509_get0_serialNumber(handle) else { return "" }
        return BaseEncoding.hexadecimal(Self.bytes(of: serial))
    }

    /// When the certificate begins to be valid, in seconds since 1970.
    var notBefore: Int64 { Self.seconds(X509_get0_notBefore(handle)) }

    /// When the certificate ends to be valid, in seconds since 1970.
    var notAfter: Int64 { Self.seconds(X509_get0_notAfter(handle)) }

    /// All organizational units (OU) of the subject, in their order.
    var organizationalUnits: [String] {
        guard let subject = X509_get_subject_name(handle) else { return [] }
        var units: [String] = []
        var index = X509_NAME_get_index_by_NID(subject, NID_organizationalUnitName, -1)
        while index >= 0 {
            let entry = X509_NAME_get_entry(subject, index)
            var text: UnsafeMutablePointer<UInt8>?
            let count = ASN1_STRING_to_UTF8(&text, X509_NAME_ENTRY_get_data(entry))
            if count >= 0, let text {
                units.append(String(decoding: UnsafeBufferPointer(start: text, count: Int(count)), as: UTF8.self))
                COpenSSL_OPENSSL_free(text)
            } else {
                units.append("")  // counted all the same: two OUs are two, readable or not
            }
            index = X509_NAME_get_index_by_NID(subject, NID_organizationalUnitName, index)
        }
        return units
    }

    /// All URIs among the subject's alternative names, in their order.
    var uniformResourceIdentifiers: [String] {
        guard let names = X509_get_ext_d2i(handle, NID_subject_alt_name, nil, nil) else { return [] }
        defer { GENERAL_NAMES_free(OpaquePointer(names)) }
        let stack = OpaquePointer(names)
        return (0..<OPENSSL_sk_num(stack)).compactMap { index in
            guard let name = OPENSSL_sk_value(stack, index)?.assumingMemoryBound(to: GENERAL_NAME.self),
                name.pointee.type == GEN_URI, let uri = name.pointee.d.uniformResourceIdentifier
            else { return nil }
            return String(decoding: Self.bytes(of: uri), as: UTF8.self)
        }
    }

    private static func bytes(of string: UnsafePointer<ASN1_STRING>) -> [UInt8] {
        Array(UnsafeBufferPointer(start: ASN1_STRING_get0_data(string), count: Int(ASN1_STRING_length(string))))
    }

    private static func seconds(_ time: UnsafePointer<ASN1_TIME>?) -> Int64 {
        var parts = tm()
        guard ASN1_TIME_to_tm(time, &parts) == 1 else { return 0 }
        return Int64(timegm(&parts))
    }
}

/// A private key of OpenSSL's, with one owner.
final class PrivateKey: @unchecked Sendable {  // never changed after it was read
    private let handle: OpaquePointer

    /// Takes ownership of an `EVP_PKEY`.
    init(takingOwnership handle: OpaquePointer) {
        self.handle = handle
    }

    /// Reads a private key from a PEM text; nil where there is none or it is encrypted.
    init?(pem: [UInt8]) {
        guard let handle = withPEM(pem, { PEM_read_bio_PrivateKey($0, nil, refusePassphrase, nil) }) else { return nil }
        self.handle = handle
    }

    deinit { EVP_PKEY_free(handle) }

    /// Lends the `EVP_PKEY`.
    func withHandle<Result>(_ body: (OpaquePointer) throws -> Result) rethrows -> Result {
        try withExtendedLifetime(self) { try body(handle) }
    }

    /// True where the key is the one that the certificate is about.
    func matches(_ certificate: Certificate) -> Bool {
        defer { ERR_clear_error() }
        return certificate.withHandle { X509_check_private_key($0, handle) } == 1
    }
}

/// Without this OpenSSL asks for a passphrase on the terminal, in the middle of whatever the program does there.
private func refusePassphrase(
    _: UnsafeMutablePointer<CChar>?,
    _: CInt,
    _: CInt,
    _: UnsafeMutableRawPointer?
) -> CInt { -1 }

private func withPEM(_ pem: [UInt8], _ read: (OpaquePointer) -> OpaquePointer?) -> OpaquePointer? {
    guard let bio = BIO_new_mem_buf(pem, CInt(pem.count)) else { return nil }
    defer {
        BIO_free(bio)
        ERR_clear_error()
    }
    return read(bio)
}

/// Collects what one of OpenSSL's i2d functions writes.
private func encoded(_ encode: (UnsafeMutablePointer<UnsafeMutablePointer<UInt8>?>?) -> CInt) -> [UInt8] {
    var bytes: UnsafeMutablePointer<UInt8>?
    let count = encode(&bytes)
    guard count > 0, let bytes else { return [] }
    defer { COpenSSL_OPENSSL_free(bytes) }
    return Array(UnsafeBufferPointer(start: bytes, count: Int(count)))
}
