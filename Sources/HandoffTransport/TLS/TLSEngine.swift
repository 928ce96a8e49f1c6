import COpenSSL
import HandoffSupport

/// One end of a TLS connection without a socket: ciphertext and plaintext go in and come out as bytes.
///
/// After each call that may have made ciphertext, failed ones too, `output` holds what has to be sent: a refusal is an
/// alert in there.
package final class TLSEngine {
    /// Which end of the connection it is.
    package enum Role: Sendable {
        /// The end that dialled. The proof is made with the identity's discovery key, or an older one of the account.
        case client(applicationProtocol: String, discoveryKey: [UInt8]?)
        /// The end that was dialled, and the application protocols it speaks, the best first.
        case server(applicationProtocols: [String])
    }

    /// What a read came to.
    package enum Incoming: Equatable {
        /// Plaintext, never empty.
        case bytes([UInt8])
        /// More ciphertext is needed first.
        case wantsInput
        /// The other end has said close_notify: it sends nothing more.
        case closed
    }

    /// What decrypting into a buffer came to.
    enum Decrypted: Equatable {
        /// So many bytes of plaintext, at least one.
        case bytes(Int)
        /// More ciphertext is needed first.
        case wantsInput
        /// The other end has said close_notify: it sends nothing more.
        case closed
    }

    /// The most plaintext one read returns: 16 records.
    package static let largestRead = 256 * 1024
    /// The most that reads may answer by themselves, to key updates, while nothing is sent.
    static let largestAnswer = 64 * 1024

    /// Ciphertext that came, and was not yet used.
    let input = ByteQueue()
    /// Ciphertext to send.
    let output = ByteQueue()
    /// The other end's certificate, once the handshake is over.
    package private(set) var peer: PeerCertificate?
    /// The application protocol that was agreed on, once the handshake is over.
    package private(set) var applicationProtocol = ""
    /// True at the server once the client has shown that it knows the discovery key.
    package private(set) var isProven = false

    let context: TLSContext
    let applicationProtocols: [String]
    private let ssl: OpaquePointer
    let isClient: Bool
    /// Why a callback ended the handshake; OpenSSL's own words would be vaguer.
    private var refusal: TransportError.Code?
    private var failure: TransportError?
    /// How much of the output are answers that no write has asked for.
    private var answered = 0
    /// True once close_notify was said: nothing more is written.
    package private(set) var hasSentClose = false

    /// Makes one end of a connection.
    package init(context: TLSContext, role: Role) {
        self.context = context
        switch role {
        case .client(let applicationProtocol, let discoveryKey):
            isClient = true
            applicationProtocols = [applicationProtocol]
            ssl = context.makeConnection(isClient: true, input: input, output: output)
            let name = Array(applicationProtocol.utf8)
            precondition(name.count < 256, "an ALPN name has at most 255 bytes")
            let offer = [UInt8(name.count)] + name
            SSL_set_alpn_protos(ssl, offer, CUnsignedInt(offer.count))
            let key = discoveryKey ?? context.identity.discoveryKey
            _ = COpenSSL_SSL_set_tlsext_host_name(ssl, DialProof.make(discoveryKey: key))
        case .server(let applicationProtocols):
            isClient = false
            self.applicationProtocols = applicationProtocols
            ssl = context.makeConnection(isClient: false, input: input, output: output)
        }
        // Slot 0 is the application's; the engine frees the SSL, and so outlives it.
        SSL_set_ex_data(ssl, 0, Unmanaged.passUnretained(self).toOpaque())
    }

    deinit { SSL_free(ssl) }

    /// Keeps OpenSSL's buffers between records: 32 KiB more, and no allocation for each record.
    func keepBuffers() {
        COpenSSL_SSL_clear_mode(ssl, CLong(SSL_MODE_RELEASE_BUFFERS))
    }

    /// Lends the `SSL`, for tests that make it misbehave.
    func withHandle<Result>(_ body: (OpaquePointer) throws -> Result) rethrows -> Result {
        try withExtendedLifetime(self) { try body(ssl) }
    }

    /// Goes on with the handshake.
    ///
    /// - Returns: True when it is over, false when more ciphertext is needed. At the client it is over before the
    ///   server has judged the client: a refusal comes with the first read (RFC 8446, section 4.4.2.4).
    /// - Throws: `TransportError`, the same one from then on.
    package func handshake() throws -> Bool {
        if let failure { throw failure }
        if peer != nil { return true }
        let outcome = COpenSSL_SSL_do_handshake(ssl)
        guard outcome.value == 1 else {
            if outcome.error == SSL_ERROR_WANT_READ { return false }
            throw fail(outcome)
        }
        var name: UnsafePointer<UInt8>?
        var count: CUnsignedInt = 0
        SSL_get0_alpn_selected(ssl, &name, &count)
        let selected = String(decoding: UnsafeBufferPointer(start: name, count: Int(count)), as: UTF8.self)
        // A server that ignores ALPN passes the handshake, and so would one without a certificate over a PSK.
        guard applicationProtocols.contains(selected) else {
            throw fail(TransportError(.applicationProtocol, refusedBy: .us))
        }
        guard let handle = SSL_get1_peer_certificate(ssl) else {
            throw fail(TransportError(.noCertificate, refusedBy: .us))
        }
        applicationProtocol = selected
        peer = PeerCertificate(
            Certificate(takingOwnership: handle),
            accountHash: context.identity.accountHash
        )
        return true
    }

    /// Decrypts what has come.
    ///
    /// - Throws: `TransportError`, the same one from then on.
    package func read() throws -> Incoming {
        // Plaintext is shorter than its ciphertext; what does not fit stays with OpenSSL for the next read.
        let capacity = min(max(input.count, 1024), Self.largestRead)
        var outcome = Decrypted.wantsInput
        let bytes = try [UInt8](unsafeUninitializedCapacity: capacity) { buffer, initialized in
            outcome = try read(into: UnsafeMutableRawBufferPointer(buffer))
            if case .bytes(let count) = outcome { initialized = count }
        }
        switch outcome {
        case .bytes: return .bytes(bytes)
        case .wantsInput: return .wantsInput
        case .closed: return .closed
        }
    }

    /// Decrypts what has come into a buffer, as far as it goes.
    ///
    /// - Throws: `TransportError`, the same one from then on.
    func read(into buffer: UnsafeMutableRawBufferPointer) throws -> Decrypted {
        if let failure { throw failure }
        if output.count == 0 { answered = 0 }
        guard answered <= Self.largestAnswer else {
            throw fail(TransportError(.tlsFailure, refusedBy: .us, detail: "key updates without end"))
        }
        let pending = output.count
        defer { answered += output.count - pending }
        var count = 0
        while count < buffer.count {
            let space = UnsafeMutableRawBufferPointer(rebasing: buffer[count...])
            let outcome = COpenSSL_SSL_read(ssl, space.baseAddress, CInt(clamping: space.count))
            if outcome.value > 0 {
                count += Int(outcome.value)
                continue
            }
            switch outcome.error {
            case SSL_ERROR_WANT_READ: return count > 0 ? .bytes(count) : .wantsInput
            // The end is told again by the next read, after the bytes that came before it.
            case SSL_ERROR_ZERO_RETURN: return count > 0 ? .bytes(count) : .closed
            default:
                let error = fail(outcome)
                guard count > 0 else { throw error }
                return .bytes(count)
            }
        }
        return .bytes(count)
    }

    /// Why the other end has broken off, where that is the next thing to read; no plaintext is taken.
    func peekFailure() -> TransportError? {
        if let failure { return failure }
        var byte: UInt8 = 0
        let outcome = COpenSSL_SSL_peek(ssl, &byte, 1)
        switch outcome.error {
        case SSL_ERROR_NONE, SSL_ERROR_WANT_READ, SSL_ERROR_ZERO_RETURN: return nil
        default: return fail(outcome)
        }
    }

    /// Encrypts bytes to be sent.
    ///
    /// - Throws: `TransportError`.
    package func write(_ bytes: UnsafeRawBufferPointer) throws {
        if let failure { throw failure }
        precondition(!hasSentClose, "nothing is written after close_notify")
        guard !bytes.isEmpty else { return }
        let outcome = COpenSSL_SSL_write(ssl, bytes.baseAddress, CInt(bytes.count))
        // The output takes everything, so that a write is never left half done.
        guard outcome.value == bytes.count else { throw fail(outcome) }
    }

    /// Says close_notify, after which nothing more is written.
    ///
    /// It does nothing after a failure or before the handshake is over.
    package func close() {
        guard failure == nil, peer != nil, !hasSentClose else { return }
        hasSentClose = true
        _ = COpenSSL_SSL_shutdown(ssl)
    }

    /// Takes ciphertext that came from the other end.
    package func receive(_ bytes: [UInt8]) {
        bytes.withUnsafeBytes { input.append($0) }
    }

    /// Takes out the ciphertext that has to be sent to the other end.
    package func takeOutput() -> [UInt8] {
        defer { output.drop(output.count) }
        return Array(output.bytes)
    }

    private func fail(_ outcome: COpenSSL_Outcome) -> TransportError {
        if let refusal { return fail(TransportError(refusal, refusedBy: .us)) }
        return fail(TransportError(openSSL: outcome.code))
    }

    private func fail(_ error: TransportError) -> TransportError {
        failure = error
        return error
    }
}

// What the callbacks ask; each returns nil where nothing is to be refused.
extension TLSEngine {
    /// Recovers the engine in a callback.
    static func of(_ ssl: OpaquePointer?) -> TLSEngine? {
        SSL_get_ex_data(ssl, 0).map { Unmanaged<TLSEngine>.fromOpaque($0).takeUnretainedValue() }
    }

    /// Judges a ClientHello, before anything of this end is shown.
    func judgeHello(serverName: String?, offersProtocols: Bool) -> TransportError.Code? {
        // After a HelloRetryRequest the same hello comes again: its nonce is known by now, the verdict stands.
        if !isProven {
            guard let serverName,
                let nonce = DialProof.nonce(of: serverName, discoveryKey: context.identity.discoveryKey),
                context.accept(nonce: nonce)
            else { return refuse(.missingProof) }
            isProven = true
        }
        // Without the extension OpenSSL never calls the ALPN callback, and the handshake would succeed.
        return offersProtocols ? nil : refuse(.applicationProtocol)
    }

    /// Judges a certificate that stands at some depth of the other end's chain.
    func judge(_ certificate: Certificate, depth: CInt, verification: CInt) -> TransportError.Code? {
        guard verification == X509_V_OK else { return refuse(TransportError.Code(verification: verification)) }
        guard depth == 0, let machineID = PeerCertificate.machineID(in: certificate) else { return nil }
        return context.isRevoked(machineID, certificate.serial) ? refuse(.certificateRevoked) : nil
    }

    /// Notes that no protocol was acceptable.
    func refuse(_ code: TransportError.Code) -> TransportError.Code {
        refusal = refusal ?? code
        return code
    }
}
