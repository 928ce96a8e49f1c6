import COpenSSL
import HandoffSupport

/// One end of an enrolment's TLS connection without a socket: TLS 1.3 by a pre-shared key, with no certificates at all.
///
/// It has a context of its own, since a key of this kind would bypass the certificates of the peers' context.
final class EnrolmentEngine {
    /// What was read.
    enum Incoming: Equatable {
        case bytes([UInt8])
        case wantsInput
        case closed
    }

    /// Ciphertext that came, and was not yet used.
    let input = ByteQueue()
    /// Ciphertext to send.
    let output = ByteQueue()

    fileprivate let keys: [PreSharedKey]
    /// The client's key's salt at an address that stays as long as the engine, as OpenSSL wants it.
    fileprivate let identity: UnsafeMutableBufferPointer<UInt8>
    let isClient: Bool
    private let context: OpaquePointer
    private let method: OpaquePointer
    private let ssl: OpaquePointer

    /// Makes the end that joins.
    convenience init(joiningWith key: PreSharedKey) {
        self.init(isClient: true, keys: [key])
    }

    /// Makes the end that invites; each key is the code's with another salt.
    convenience init(invitingWith keys: [PreSharedKey]) {
        self.init(isClient: false, keys: keys)
    }

    private init(isClient: Bool, keys: [PreSharedKey]) {
        self.isClient = isClient
        self.keys = keys
        let salt = keys.first?.salt ?? []
        identity = .allocate(capacity: salt.count)
        _ = identity.initialize(from: salt)
        guard let context = SSL_CTX_new(isClient ? TLS_client_method() : TLS_server_method()) else {
            preconditionFailure("out of memory")
        }
        self.context = context
        Self.configure(context, isClient: isClient)
        method = ByteQueue.makeMethod()
        guard let ssl = SSL_new(context), let source = input.makeBIO(method), let sink = output.makeBIO(method) else {
            preconditionFailure("out of memory")
        }
        self.ssl = ssl
        SSL_set_bio(ssl, source, sink)  // takes both
        // Slot 0 is the application's; the engine frees the SSL, and so outlives it.
        SSL_set_ex_data(ssl, 0, Unmanaged.passUnretained(self).toOpaque())
        if isClient { SSL_set_connect_state(ssl) } else { SSL_set_accept_state(ssl) }
    }

    deinit {
        SSL_free(ssl)
        SSL_CTX_free(context)
        BIO_meth_free(method)
        identity.deallocate()
    }

    private static func configure(_ context: OpaquePointer, isClient: Bool) {
        // One suite, since a key is silently not used where its hash is not the suite's; one group, so that there is no
        // second ClientHello. That a Diffie-Hellman exchange is part of it (psk_dhe_ke) is OpenSSL's default.
        let isReady =
            COpenSSL_SSL_CTX_set_min_proto_version(context, TLS1_3_VERSION) == 1
            && SSL_CTX_set_ciphersuites(context, "TLS_AES_128_GCM_SHA256") == 1
            && COpenSSL_SSL_CTX_set1_groups_list(context, "X25519") == 1
        precondition(isReady, "OpenSSL has no TLS 1.3")
        SSL_CTX_set_options(context, COpenSSL_SSL_OP_NO_TICKET | COpenSSL_SSL_OP_NO_RENEGOTIATION)
        SSL_CTX_set_num_tickets(context, 0)
        COpenSSL_SSL_CTX_disable_session_cache(context)
        if isClient {
            let name = Array(PreSharedKey.applicationProtocol.utf8)
            let offer = [UInt8(name.count)] + name
            SSL_CTX_set_alpn_protos(context, offer, CUnsignedInt(offer.count))
            // Nobody is trusted: a server that answers with a certificate in place of the key is refused.
            SSL_CTX_set_verify(context, SSL_VERIFY_PEER, nil)
            SSL_CTX_set_psk_use_session_callback(context, useSessionCallback)
        } else {
            SSL_CTX_set_psk_find_session_callback(context, findSessionCallback)
            SSL_CTX_set_alpn_select_cb(context, selectEnrolmentCallback, nil)
        }
    }

    /// Whether the other end has shown that it knows the code; "reused" is what OpenSSL calls a handshake by a key.
    ///
    /// At the end that joins, only once the handshake is over.
    var hasAcceptedKey: Bool { SSL_session_reused(ssl) == 1 }

    /// Goes on with the handshake.
    ///
    /// - Returns: True when it is over, false when more ciphertext is needed.
    /// - Throws: `EnrolmentFailure`.
    func handshake() throws(EnrolmentFailure) -> Bool {
        let outcome = COpenSSL_SSL_do_handshake(ssl)
        guard outcome.value == 1 else {
            if outcome.error == SSL_ERROR_WANT_READ { return false }
            throw EnrolmentFailure(handshake: outcome.code)
        }
        var name: UnsafePointer<UInt8>?
        var count: CUnsignedInt = 0
        SSL_get0_alpn_selected(ssl, &name, &count)
        guard hasAcceptedKey,
            UnsafeBufferPointer(start: name, count: Int(count)).elementsEqual(PreSharedKey.applicationProtocol.utf8)
        else { throw .failed("the other end does not speak \(PreSharedKey.applicationProtocol)") }
        return true
    }

    /// Decrypts what has come.
    func read() throws(EnrolmentFailure) -> Incoming {
        var buffer = [UInt8](repeating: 0, count: 16 * 1024)
        let outcome = COpenSSL_SSL_read(ssl, &buffer, CInt(buffer.count))
        if outcome.value > 0 { return .bytes(Array(buffer.prefix(Int(outcome.value)))) }
        switch outcome.error {
        case SSL_ERROR_WANT_READ: return .wantsInput
        case SSL_ERROR_ZERO_RETURN: return .closed
        default: throw EnrolmentFailure(handshake: outcome.code)
        }
    }

    /// Encrypts bytes to be sent.
    func write(_ bytes: [UInt8]) throws(EnrolmentFailure) {
        let outcome = COpenSSL_SSL_write(ssl, bytes, CInt(bytes.count))
        guard outcome.value == bytes.count else { throw EnrolmentFailure(handshake: outcome.code) }
    }

    /// Says close_notify.
    func close() { _ = COpenSSL_SSL_shutdown(ssl) }

    fileprivate static func of(_ ssl: OpaquePointer?) -> EnrolmentEngine? {
        SSL_get_ex_data(ssl, 0).map { Unmanaged<EnrolmentEngine>.fromOpaque($0).takeUnretainedValue() }
    }
}

/// Why an enrolment's connection failed.
package enum EnrolmentFailure: Error, Equatable {
    /// One end has found that the other's key is made of another code.
    case wrongCode
    /// The inviting end knows no key with the joining end's salt.
    case unknownSalt
    /// Nobody listens there, or the network does not carry it; with the reason.
    case unreachable(String)
    /// Something else; with the reason.
    case failed(String)

    init(handshake code: CUnsignedLong) {
        let reason = ERR_GET_REASON(code)
        switch reason {
        case SSL_R_BINDER_DOES_NOT_VERIFY: self = .wrongCode
        // How OpenSSL's server and RFC 8446's (section 6.2) tell a binder that does not verify.
        case SSL_AD_REASON_OFFSET + SSL_AD_ILLEGAL_PARAMETER, SSL_AD_REASON_OFFSET + SSL_AD_DECRYPT_ERROR:
            self = .wrongCode
        case SSL_AD_REASON_OFFSET + SSL_AD_HANDSHAKE_FAILURE, SSL_AD_REASON_OFFSET + TLS13_AD_MISSING_EXTENSION:
            self = .unknownSalt
        default: self = .failed(TransportError.text(of: code))
        }
    }
}

// The functions that OpenSSL calls: each recovers its engine.

private func useSessionCallback(
    _ ssl: OpaquePointer?,
    _: OpaquePointer?,
    _ identity: UnsafeMutablePointer<UnsafePointer<UInt8>?>?,
    _ identityCount: UnsafeMutablePointer<Int>?,
    _ session: UnsafeMutablePointer<OpaquePointer?>?
) -> CInt {
    guard let engine = EnrolmentEngine.of(ssl), let made = engine.keys.first?.makeSession(for: ssl) else { return 0 }
    identity?.pointee = UnsafePointer(engine.identity.baseAddress)
    identityCount?.pointee = engine.identity.count
    session?.pointee = made
    return 1
}

private func findSessionCallback(
    _ ssl: OpaquePointer?,
    _ identity: UnsafePointer<UInt8>?,
    _ identityCount: Int,
    _ session: UnsafeMutablePointer<OpaquePointer?>?
) -> CInt {
    let salt = UnsafeBufferPointer(start: identity, count: identityCount)
    // None is no failure of the callback: OpenSSL then looks for a certificate, and finds none.
    session?.pointee = EnrolmentEngine.of(ssl)?.keys.first { $0.salt.elementsEqual(salt) }?.makeSession(for: ssl)
    return 1
}

private func selectEnrolmentCallback(
    _: OpaquePointer?,
    _ selected: UnsafeMutablePointer<UnsafePointer<UInt8>?>?,
    _ selectedCount: UnsafeMutablePointer<UInt8>?,
    _ offer: UnsafePointer<UInt8>?,
    _ offerCount: CUnsignedInt,
    _: UnsafeMutableRawPointer?
) -> CInt {
    let offered = UnsafeBufferPointer(start: offer, count: Int(offerCount))
    var index = 0
    while index < offered.count {
        let end = index + 1 + Int(offered[index])
        guard end <= offered.count else { break }
        if offered[(index + 1)..<end].elementsEqual(PreSharedKey.applicationProtocol.utf8) {
            selected?.pointee = offer.map { $0 + index + 1 }
            selectedCount?.pointee = offered[index]
            return SSL_TLSEXT_ERR_OK
        }
        index = end
    }
    return SSL_TLSEXT_ERR_ALERT_FATAL
}
