import COpenSSL

// The functions that OpenSSL calls in a handshake: each recovers its engine and leaves the judgement to it.

func verifyCallback(_ isGood: CInt, _ verification: OpaquePointer?) -> CInt {
    let index = SSL_get_ex_data_X509_STORE_CTX_idx()
    guard let ssl = X509_STORE_CTX_get_ex_data(verification, index), let engine = TLSEngine.of(OpaquePointer(ssl)),
        let certificate = X509_STORE_CTX_get_current_cert(verification)
    else { return 0 }
    X509_up_ref(certificate)
    let refusal = engine.judge(
        Certificate(takingOwnership: certificate),
        depth: X509_STORE_CTX_get_error_depth(verification),
        verification: isGood == 1 ? X509_V_OK : X509_STORE_CTX_get_error(verification)
    )
    guard let refusal else { return 1 }
    X509_STORE_CTX_set_error(verification, refusal.verificationCode)
    return 0
}

func clientHelloCallback(
    _ ssl: OpaquePointer?,
    _ alert: UnsafeMutablePointer<CInt>?,
    _: UnsafeMutableRawPointer?
) -> CInt {
    guard let engine = TLSEngine.of(ssl) else { return SSL_CLIENT_HELLO_ERROR }
    let refusal = engine.judgeHello(
        serverName: serverName(inHelloOf: ssl),
        offersProtocols: helloExtension(TLSEXT_TYPE_application_layer_protocol_negotiation, of: ssl) != nil
    )
    guard let refusal else { return SSL_CLIENT_HELLO_SUCCESS }
    alert?.pointee = refusal == .missingProof ? SSL3_AD_HANDSHAKE_FAILURE : TLS1_AD_NO_APPLICATION_PROTOCOL
    return SSL_CLIENT_HELLO_ERROR
}

func selectProtocolCallback(
    _ ssl: OpaquePointer?,
    _ selected: UnsafeMutablePointer<UnsafePointer<UInt8>?>?,
    _ selectedCount: UnsafeMutablePointer<UInt8>?,
    _ offer: UnsafePointer<UInt8>?,
    _ offerCount: CUnsignedInt,
    _: UnsafeMutableRawPointer?
) -> CInt {
    guard let engine = TLSEngine.of(ssl) else { return SSL_TLSEXT_ERR_ALERT_FATAL }
    let offered = UnsafeBufferPointer(start: offer, count: Int(offerCount))
    for name in engine.applicationProtocols {
        var index = 0
        while index < offered.count {
            let end = index + 1 + Int(offered[index])
            guard end <= offered.count else { break }
            if offered[(index + 1)..<end].elementsEqual(name.utf8) {
                selected?.pointee = offer.map { $0 + index + 1 }
                selectedCount?.pointee = offered[index]
                return SSL_TLSEXT_ERR_OK
            }
            index = end
        }
    }
    _ = engine.refuse(.applicationProtocol)
    return SSL_TLSEXT_ERR_ALERT_FATAL
}

private func helloExtension(_ type: CInt, of ssl: OpaquePointer?) -> UnsafeBufferPointer<UInt8>? {
    var bytes: UnsafePointer<UInt8>?
    var count = 0
    guard SSL_client_hello_get0_ext(ssl, CUnsignedInt(type), &bytes, &count) == 1 else { return nil }
    return UnsafeBufferPointer(start: bytes, count: count)
}

/// The one host name in the server_name extension (RFC 6066, section 3); nil where it is absent or malformed.
private func serverName(inHelloOf ssl: OpaquePointer?) -> String? {
    guard let list = helloExtension(TLSEXT_TYPE_server_name, of: ssl), list.count > 5,
        Int(list[0]) << 8 | Int(list[1]) == list.count - 2,
        list[2] == UInt8(TLSEXT_NAMETYPE_host_name),
        Int(list[3]) << 8 | Int(list[4]) == list.count - 5
    else { return nil }
    return String(decoding: list[5...], as: UTF8.self)
}
