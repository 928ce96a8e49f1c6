public import HandoffSupport

/// What a receiver has of a file: how much of its beginning, and what that is.
public struct ResumePoint: Sendable, Hashable {
    /// How many bytes.
    public let offset: Int64
    /// The SHA-256 digest of these bytes.
    public let digest: ContentDigest

    /// Records what a receiver has, or says that it has.
    public init(offset: Int64, digest: ContentDigest) {
        self.offset = offset
        self.digest = digest
    }
}
