public import FoundationEssentials
public import HandoffModel

/// An activity of another device, with the state that its app saved.
public struct ContinuedActivity: Sendable, Hashable {
    /// The activity's id at its origin.
    public let id: UUID
    /// Its reverse-DNS type.
    public let type: String
    /// Its title; it comes from a peer and may hold anything.
    public let title: String
    /// What the origin's app saved; keys that it does not require may be missing, and any may have another type.
    public let userInfo: [String: PropertyList]
    /// The version of the app's content that userInfo was written by; an older one lacks what newer ones added.
    public let contentVersion: ContentVersion
    /// The same content on the web, `http` or `https`; it comes from a peer.
    public let webpageURL: URL?
    /// What the activity is about: where a window or an editor shows it already, use that one.
    public let targetContentIdentifier: String?
    /// The keys that the origin's app requires; all of them are in ``userInfo``.
    public let requiredUserInfoKeys: Set<String>
    /// From when on the origin does not offer it any more.
    public let expirationDate: Date?
    /// True where the origin gives large payloads by a stream.
    public let supportsContinuationStreams: Bool
    /// True where the origin sent it here unasked, false where it was continued from here.
    public let wasSent: Bool
    /// Where it came from.
    public let origin: RemotePeer

    init(payload: ActivityPayload, origin: RemotePeer, wasSent: Bool) {
        id = payload.offer.id
        type = payload.offer.type
        title = payload.offer.title
        userInfo = payload.userInfo
        contentVersion = payload.offer.contentVersion
        webpageURL = payload.details.webpageURL
        targetContentIdentifier = payload.details.targetContentIdentifier
        requiredUserInfoKeys = payload.details.requiredUserInfoKeys
        expirationDate = payload.details.expirationDate
        supportsContinuationStreams = payload.offer.supportsStreams
        self.wasSent = wasSent
        self.origin = origin
    }
}
