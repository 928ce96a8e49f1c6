import COpenSSL
import HandoffSupport

/// What all connections of one identity share: its certificate, whom it trusts, and the proofs it has seen.
///
/// TLS 1.3 only, both ends with certificates; no tickets, no resumption, no early data, no pre-shared keys: each of
/// them was seen to bypass a check, and a handshake costs 2 to 4 ms.
public final class TLSContext: @unchecked Sendable {  // SSL_CTX and BIO_METHOD are not changed after init
    /// Who this end is.
    public let identity: Identity

    let isRevoked: @Sendable (_ machineID: String, _ serial: String) -> Bool
    private let nonces = LockedBox(NonceMemory())
    private let client: OpaquePointer
    private let server: OpaquePointer
    private let method: OpaquePointer

    /// Makes the contexts for both roles.
    ///
    /// - Parameters:
    ///   - identity: Who this end is.
    ///   - isRevoked: Asked in each handshake whether a certificate was revoked; it is called on any thread.
    /// - Throws: `TransportError` with `tlsFailure` where OpenSSL cannot use the identity.
    public init(
        identity: Identity,
        isRevoked: @escaping @Sendable (_ machineID: String, _ serial: String) -> Bool = { _, _ in false }
    ) throws {
        self.identity = identity
        self.isRevoked = isRevoked
        let trust = TrustStore(account: identity.account)
        let client = try Self.makeContext(TLS_client_method(), identity: identity, trust: trust)
        do {
            server = try Self.makeContext(TLS_server_method(), identity: identity, trust: trust)
        } catch {
            SSL_CTX_free(client)
            throw error
        }
        self.client = client
        SSL_CTX_set_verify(client, SSL_VERIFY_PEER, verifyCallback)
        SSL_CTX_set_verify(server, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, verifyCallback)
        SSL_CTX_set_client_hello_cb(server, clientHelloCallback, nil)
        SSL_CTX_set_alpn_select_cb(server, selectProtocolCallback, nil)
        method = ByteQueue.makeMethod()
    }

    deinit {
        SSL_CTX_free(client)
        SSL_CTX_free(server)
        BIO_meth_free(method)
    }

    /// Remembers the nonce of an accepted proof; false where it was used before.
    func accept(nonce: [UInt8]) -> Bool {
        nonces.withLock { $0.insert(nonce) }
    }

    /// Makes a connection's `SSL` that reads and writes ciphertext through two queues, which must outlive it.
    func makeConnection(isClient: Bool, input: ByteQueue, output: ByteQueue) -> OpaquePointer {
        guard let ssl = SSL_new(isClient ? client : server), let source = input.makeBIO(method),
            let sink = output.makeBIO(method)
        else { preconditionFailure("out of memory") }
        SSL_set_bio(ssl, source, sink)  // takes both
        if isClient { SSL_set_connect_state(ssl) } else { SSL_set_accept_state(ssl) }
        return ssl
    }

    private static func makeContext(
        _ method: OpaquePointer?,
        identity: Identity,
        trust: borrowing TrustStore
    ) throws -> OpaquePointer {
        guard let context = SSL_CTX_new(method) else { preconditionFailure("out of memory") }
        trust.install(in: context)
        // X25519 first at both ends, so that a HelloRetryRequest stays the exception. AES-128-GCM is the fastest here.
        let suites = "TLS_AES_128_GCM_SHA256:TLS_CHACHA20_POLY1305_SHA256:TLS_AES_256_GCM_SHA384"
        let isReady =
            COpenSSL_SSL_CTX_set_min_proto_version(context, TLS1_3_VERSION) == 1
            && SSL_CTX_set_ciphersuites(context, suites) == 1
            && COpenSSL_SSL_CTX_set1_groups_list(context, "X25519:P-256") == 1
            && identity.certificate.withHandle { SSL_CTX_use_certificate(context, $0) } == 1
            && identity.privateKey.withHandle { SSL_CTX_use_PrivateKey(context, $0) } == 1
        guard isReady else {
            let error = TransportError(.tlsFailure, detail: TransportError.text(of: ERR_peek_last_error()))
            ERR_clear_error()
            SSL_CTX_free(context)
            throw error
        }
        SSL_CTX_set_options(context, COpenSSL_SSL_OP_NO_TICKET | COpenSSL_SSL_OP_NO_RENEGOTIATION)
        SSL_CTX_set_num_tickets(context, 0)
        COpenSSL_SSL_CTX_disable_session_cache(context)
        COpenSSL_SSL_CTX_set_max_cert_list(context, 16 * 1024)  // a peer sends one certificate, of about 1 KiB
        // The other end has the account's certificate; it is not sent. Idle connections give their buffers back.
        COpenSSL_SSL_CTX_set_mode(context, CLong(SSL_MODE_RELEASE_BUFFERS | SSL_MODE_NO_AUTO_CHAIN))
        return context
    }
}
