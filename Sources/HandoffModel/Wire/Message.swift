public import FoundationEssentials

/// One control message of the link protocol (docs/protocol.md, "Kinds").
public enum Message: Hashable, Sendable {
    /// The greeting, once each way, the acceptor's first.
    case hello(Hello)
    /// Asks for an answer at once.
    case ping(sequence: Int)
    /// Answers a ping.
    case pong(sequence: Int)
    /// All that the sender offers now; an empty list takes everything back.
    case offers([Offer])
    /// Asks for the saved state of an offered activity.
    case fetch(request: Int, activity: UUID)
    /// Answers `fetch`.
    case activity(request: Int, ActivityPayload)
    /// Answers any request that failed.
    case failure(request: Int, HandoffError)
    /// Tells the origin that its activity goes on at the sender.
    case continued(activity: UUID)
    /// Tells who continued an activity that its state has changed since; the new one is fetched if it is wanted.
    case update(activity: UUID)
    /// Asks the other end to take an activity over; a request.
    case send(request: Int, Offer)
    /// Answers `send`: the activity is being fetched.
    case accept(request: Int)
    /// Answers `send`: the activity is not wanted, and why.
    case decline(request: Int, HandoffError)
    /// Tells the origin that an activity it sent was accepted, but could not be fetched or restored.
    case failed(activity: UUID, HandoffError)
    /// Asks for a stream; a request.
    case openStream(request: Int, StreamSource)
    /// Answers `openStream`.
    case stream(request: Int, StreamTicket)
    /// Tells what the account has said to its machines, as far as the other end may not know it.
    case revocations([Revocation], keys: [DiscoveryKeyStatement])
    /// Asks whoever holds the account's key for a new certificate; a request.
    case renew(request: Int, certificateRequest: [UInt8])
    /// Answers `renew`: the certificate in DER.
    case certificate(request: Int, [UInt8])
    /// Answers a kind that the sender does not know, naming the request where there is one.
    case unsupported(request: Int?, kind: String)
    /// Ends the link, with the reason.
    case bye(ByeReason)

    /// The message's body: a binary property list, to be framed.
    ///
    /// - Throws: ``HandoffError/Code/invalidActivity`` where a value in it cannot be encoded.
    public func encoded() throws(HandoffError) -> [UInt8] {
        do {
            return try BinaryPropertyList.encode(.dictionary(fields))
        } catch {
            throw HandoffError(.invalidActivity, "the message cannot be encoded: \(error)")
        }
    }

    private var fields: [String: PropertyList] {
        switch self {
        case .hello(let hello):
            hello.propertyList.merging(["kind": "hello"]) { $1 }
        case .ping(let sequence):
            ["kind": "ping", "sequence": .integer(sequence)]
        case .pong(let sequence):
            ["kind": "pong", "sequence": .integer(sequence)]
        case .offers(let offers):
            ["kind": "offers", "offers": .array(offers.map(\.propertyList))]
        case .fetch(let request, let activity):
            ["kind": "fetch", "request": .integer(request), "activity": .string(activity.uuidString)]
        case .activity(let request, let payload):
            ["kind": "activity", "request": .integer(request), "activity": payload.propertyList]
        case .failure(let request, let error):
            error.propertyList.merging(["kind": "error", "request": .integer(request)]) { $1 }
        case .continued(let activity):
            ["kind": "continued", "activity": .string(activity.uuidString)]
        case .update(let activity):
            ["kind": "update", "activity": .string(activity.uuidString)]
        case .send(let request, let offer):
            ["kind": "send", "request": .integer(request), "offer": offer.propertyList]
        case .accept(let request):
            ["kind": "accept", "request": .integer(request)]
        case .decline(let request, let error):
            error.propertyList.merging(["kind": "decline", "request": .integer(request)]) { $1 }
        case .failed(let activity, let error):
            error.propertyList.merging(["kind": "failed", "activity": .string(activity.uuidString)]) { $1 }
        case .openStream(let request, .activity(let activity)):
            ["kind": "openStream", "request": .integer(request), "activity": .string(activity.uuidString)]
        case .openStream(let request, .blob(let blob)):
            ["kind": "openStream", "request": .integer(request), "blob": blob.propertyList]
        case .stream(let request, let ticket):
            ticket.propertyList.merging(["kind": "stream", "request": .integer(request)]) { $1 }
        case .revocations(let revocations, let keys):
            [
                "kind": "revocations", "revocations": AccountStatements.list(revocations),
                "keys": AccountStatements.list(keys),
            ]
        case .renew(let request, let csr):
            ["kind": "renew", "request": .integer(request), "csr": .data(Data(csr))]
        case .certificate(let request, let certificate):
            ["kind": "certificate", "request": .integer(request), "certificate": .data(Data(certificate))]
        case .unsupported(let request, let kind):
            ["kind": "unsupported", "unsupported": .string(kind)].merging(
                request.map { ["request": .integer($0)] } ?? [:]
            ) { $1 }
        case .bye(let reason):
            ["kind": "bye", "reason": .string(reason.wire)]
        }
    }
}

/// What a received frame turned out to be.
public enum ReceivedMessage: Hashable, Sendable {
    /// A message of a known kind, with everything it needs.
    case known(Message)
    /// A kind of a newer version, to be answered with `unsupported`.
    case unknown(request: Int?, kind: String)

    /// Reads the body of a frame.
    ///
    /// - Returns: Nil where it is not a property list, or a known kind lacks something: the link ends.
    public init?(body: [UInt8]) {
        guard let value = try? BinaryPropertyList.decode(body), let kind = value["kind"]?.stringValue else {
            return nil
        }
        let request = value["request"]?.integerValue
        guard let known = Self.known(kind, value, request: request) else {
            guard kind.utf8.count <= Self.maximumKindSize else { return nil }
            self = .unknown(request: request, kind: kind)
            return
        }
        guard let message = known() else { return nil }
        self = .known(message)
    }

    /// The longest kind in bytes; it is sent back in `unsupported`.
    private static let maximumKindSize = 64

    /// The reader of a known kind's fields, which finds nil where one is missing; nil for an unknown kind.
    private static func known(_ kind: String, _ value: PropertyList, request: Int?) -> (() -> Message?)? {
        func uuid(_ key: String) -> UUID? { value[key]?.stringValue.flatMap { UUID(uuidString: $0) } }
        func der(_ key: String) -> [UInt8]? {
            value[key]?.dataValue.flatMap { $0.count <= EnrolmentMessage.maximumCertificate ? Array($0) : nil }
        }
        func sequence() -> Int? { value["sequence"]?.integerValue }
        switch kind {
        case "hello": return { Hello(value).map { .hello($0) } }
        case "ping": return { sequence().map { .ping(sequence: $0) } }
        case "pong": return { sequence().map { .pong(sequence: $0) } }
        case "offers": return { offers(value) }
        case "fetch":
            return { request.flatMap { number in uuid("activity").map { .fetch(request: number, activity: $0) } } }
        case "activity":
            return {
                request.flatMap { number in
                    value["activity"].flatMap { ActivityPayload($0) }.map { .activity(request: number, $0) }
                }
            }
        case "error":
            return { request.flatMap { number in HandoffError(value).map { .failure(request: number, $0) } } }
        case "continued": return { uuid("activity").map { .continued(activity: $0) } }
        case "update": return { uuid("activity").map { .update(activity: $0) } }
        case "send":
            return {
                request.flatMap { number in
                    value["offer"].flatMap { Offer($0) }.map { .send(request: number, $0) }
                }
            }
        case "accept": return { request.map { .accept(request: $0) } }
        case "decline":
            return { request.flatMap { number in HandoffError(value).map { .decline(request: number, $0) } } }
        case "failed":
            return { uuid("activity").flatMap { id in HandoffError(value).map { .failed(activity: id, $0) } } }
        case "openStream":
            return {
                guard let request else { return nil }
                if let blob = value["blob"] {
                    return BlobRequest(blob).map { .openStream(request: request, .blob($0)) }
                }
                return uuid("activity").map { .openStream(request: request, .activity($0)) }
            }
        case "stream":
            return { request.flatMap { number in StreamTicket(value).map { .stream(request: number, $0) } } }
        case "revocations": return { statements(value) }
        case "renew":
            return {
                request.flatMap { number in der("csr").map { .renew(request: number, certificateRequest: $0) } }
            }
        case "certificate":
            return { request.flatMap { number in der("certificate").map { .certificate(request: number, $0) } } }
        case "unsupported":
            return { value["unsupported"]?.stringValue.map { .unsupported(request: request, kind: $0) } }
        case "bye": return { value["reason"]?.stringValue.map { .bye(ByeReason(wire: $0)) } }
        default: return nil
        }
    }

    private static func statements(_ value: PropertyList) -> Message? {
        guard let list = value["revocations"],
            let revocations: [Revocation] = AccountStatements.statements(list),
            let keys: [DiscoveryKeyStatement] = AccountStatements.statements(value["keys"])
        else { return nil }
        return .revocations(revocations, keys: keys)
    }

    private static func offers(_ value: PropertyList) -> Message? {
        guard let entries = value["offers"]?.arrayValue, entries.count <= Offer.maximumCount else { return nil }
        let offers = entries.compactMap { Offer($0) }
        return offers.count == entries.count ? .offers(offers) : nil
    }
}

extension HandoffError {
    /// The longest error text taken from a peer, in characters; a key's name likewise.
    private static let maximumTextLength = 500

    /// Reads the error of an answer.
    ///
    /// - Returns: Nil where a required key is missing or of the wrong type.
    init?(_ value: PropertyList) {
        guard let code = value["code"]?.integerValue, let message = value["message"]?.stringValue else { return nil }
        self.init(
            Code(rawValue: code),
            String(message.prefix(Self.maximumTextLength)),
            key: value["key"]?.stringValue.map { String($0.prefix(Self.maximumTextLength)) }
        )
    }

    var propertyList: [String: PropertyList] {
        var fields: [String: PropertyList] = ["code": .integer(code.rawValue), "message": .string(message)]
        fields["key"] = key.map { .string($0) }
        return fields
    }
}
