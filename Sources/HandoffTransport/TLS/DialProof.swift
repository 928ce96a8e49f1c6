import HandoffSupport

/// The proof that a dialler knows the account's discovery key, carried as the server name (SNI) of its ClientHello.
///
/// It keeps whoever merely connects from seeing a certificate: lower-case base32 of a nonce of 16 bytes and the first
/// 16 bytes of HMAC-SHA256(discovery key, "dial" ‖ nonce), which is one DNS label of 52 characters.
package enum DialProof {
    package static let nonceLength = 16
    static let codeLength = 16

    /// Makes a proof around a fresh nonce.
    package static func make(discoveryKey: [UInt8], nonce: [UInt8] = Crypto.randomBytes(nonceLength)) -> String {
        BaseEncoding.base32(nonce + code(discoveryKey: discoveryKey, nonce: nonce))
    }

    /// Checks a proof.
    ///
    /// - Returns: Its nonce, or nil where it was not made with the key.
    package static func nonce(of label: String, discoveryKey: [UInt8]) -> [UInt8]? {
        guard label.utf8.count == 52, let bytes = BaseEncoding.decodeBase32(label),
            bytes.count == nonceLength + codeLength
        else { return nil }
        let nonce = Array(bytes.prefix(nonceLength))
        let expected = code(discoveryKey: discoveryKey, nonce: nonce)
        return Crypto.areEqual(Array(bytes.dropFirst(nonceLength)), expected) ? nonce : nil
    }

    private static func code(discoveryKey: [UInt8], nonce: [UInt8]) -> [UInt8] {
        Array(Crypto.hmacSHA256(key: discoveryKey, message: Array("dial".utf8) + nonce).prefix(codeLength))
    }
}

/// The nonces of the proofs that were accepted, so that none is accepted twice.
struct NonceMemory {
    private let capacity: Int
    private var known: Set<[UInt8]> = []
    private var order: [[UInt8]] = []
    private var oldest = 0

    /// Makes a memory that forgets the oldest nonce when it is full.
    init(capacity: Int = 65_536) {
        self.capacity = capacity
    }

    /// Remembers a nonce.
    ///
    /// - Returns: False where it was known already.
    mutating func insert(_ nonce: [UInt8]) -> Bool {
        guard known.insert(nonce).inserted else { return false }
        if order.count < capacity {
            order.append(nonce)
        } else {
            known.remove(order[oldest])
            order[oldest] = nonce
            oldest = (oldest + 1) % capacity
        }
        return true
    }
}
