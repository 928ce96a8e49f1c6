import COpenSSL
public import HandoffSupport

/// SHA-256 of content that comes piece by piece (FIPS 180-4).
///
/// The digest of what came so far may be asked for at any time, and hashing goes on after it: a beginning and the whole
/// are checked in one reading.
public struct SHA256: ~Copyable, @unchecked Sendable {  // the context has this one owner
    private let context: OpaquePointer

    /// Begins with no content.
    public init() {
        guard let context = EVP_MD_CTX_new(), EVP_DigestInit_ex(context, EVP_sha256(), nil) == 1 else {
            preconditionFailure("SHA-256 is not available")
        }
        self.context = context
    }

    deinit {
        EVP_MD_CTX_free(context)
    }

    /// Takes the next piece of the content.
    public mutating func update(_ bytes: UnsafeRawBufferPointer) {
        let result = EVP_DigestUpdate(context, bytes.baseAddress, bytes.count)
        precondition(result == 1, "SHA-256 failed")
    }

    /// The digest of the pieces that came so far; more may follow.
    public var digest: ContentDigest {
        var bytes = [UInt8](repeating: 0, count: ContentDigest.byteCount)
        let copy = EVP_MD_CTX_new()
        defer { EVP_MD_CTX_free(copy) }
        // The copy's end is this digest; the original is still open.
        let isDone = EVP_MD_CTX_copy_ex(copy, context) == 1 && EVP_DigestFinal_ex(copy, &bytes, nil) == 1
        guard isDone, let digest = ContentDigest(bytes: bytes) else { preconditionFailure("SHA-256 failed") }
        return digest
    }
}
