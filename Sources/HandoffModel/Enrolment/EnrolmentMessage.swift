public import FoundationEssentials

/// One message of an enrolment (docs/protocol.md, "Enrolment"): a property list in a frame, as on links.
public enum EnrolmentMessage: Hashable, Sendable {
    /// The joining machine asks for certificates.
    case request(EnrolmentRequest)
    /// The inviting machine gives them.
    case grant(EnrolmentGrant)
    /// The joining machine has checked and saved what it was given.
    case saved
    /// Either end does not go on, and says why: a word of docs/protocol.md, and words for the other end's user.
    case refused(reason: String, message: String)

    /// The reason that is not ``EnrolmentError/Code/refused``: the clocks are too far apart.
    public static let clocksDiffer = "clocksDiffer"

    /// The longest frame body of an enrolment, in bytes: a few certificates.
    public static let maximumBody = 64 * 1024
    /// The longest certificate, and the longest certificate request, in bytes.
    public static let maximumCertificate = 8 * 1024
    /// How many teams an invitation may be for.
    public static let maximumTeams = 8
    /// The longest text of a refusal, in characters; what is longer is cut.
    static let maximumText = 500

    /// Reads a frame's body.
    ///
    /// - Returns: Nil where it is no message of an enrolment.
    public init?(body: [UInt8]) {
        guard body.count <= Self.maximumBody, let value = try? BinaryPropertyList.decode(body) else { return nil }
        switch value["kind"]?.stringValue {
        case "request":
            guard let request = EnrolmentRequest(value) else { return nil }
            self = .request(request)
        case "grant":
            guard let grant = EnrolmentGrant(value) else { return nil }
            self = .grant(grant)
        case "saved":
            self = .saved
        case "refused":
            guard let reason = value["reason"]?.stringValue, let text = value["message"]?.stringValue else {
                return nil
            }
            self = .refused(
                reason: String(reason.prefix(Self.maximumText)),
                message: String(text.prefix(Self.maximumText))
            )
        default:
            return nil
        }
    }

    /// The message's frame.
    ///
    /// - Throws: ``EnrolmentError/Code/protocolViolation`` where a value in it cannot be encoded.
    public func frame() throws(EnrolmentError) -> [UInt8] {
        do {
            return try Frame.encode(BinaryPropertyList.encode(.dictionary(fields)))
        } catch {
            throw EnrolmentError(.protocolViolation, "the enrolment's message cannot be encoded: \(error)")
        }
    }

    private var fields: [String: PropertyList] {
        switch self {
        case .request(let request): request.propertyList.merging(["kind": "request"]) { $1 }
        case .grant(let grant): grant.propertyList.merging(["kind": "grant"]) { $1 }
        case .saved: ["kind": "saved"]
        case .refused(let reason, let text):
            [
                "kind": "refused", "reason": .string(reason),
                "message": .string(String(text.prefix(Self.maximumText))),
            ]
        }
    }
}

/// What a machine that joins tells of itself.
public struct EnrolmentRequest: Hashable, Sendable {
    /// A PKCS#10 certificate request in DER; nothing but its key is used.
    public let certificateRequest: [UInt8]
    /// The machine's name for people.
    public let host: String
    /// What the machine's clock shows.
    public let time: Date

    /// Makes a request.
    public init(certificateRequest: [UInt8], host: String, time: Date) {
        self.certificateRequest = certificateRequest
        self.host = host
        self.time = time
    }

    init?(_ value: PropertyList) {
        guard let request = value["csr"]?.dataValue, request.count <= EnrolmentMessage.maximumCertificate,
            let host = value["host"]?.stringValue, host.utf8.count <= Hello.maximumNameSize,
            let time = value["time"]?.dateValue
        else { return nil }
        self.init(certificateRequest: Array(request), host: host, time: time)
    }

    var propertyList: [String: PropertyList] {
        ["csr": .data(Data(certificateRequest)), "host": .string(host), "time": .date(time)]
    }
}

/// What a machine that joins is given.
public struct EnrolmentGrant: Hashable, Sendable {
    /// The account's certificate in DER.
    public let account: [UInt8]
    /// The machine's certificates in DER, one a team; the first is that of the apps that ask for no team.
    public let certificates: [[UInt8]]
    /// The account's discovery key, 32 bytes.
    public let discoveryKey: [UInt8]
    /// The inviting machine's name for people.
    public let host: String

    /// Makes a grant.
    public init(account: [UInt8], certificates: [[UInt8]], discoveryKey: [UInt8], host: String) {
        self.account = account
        self.certificates = certificates
        self.discoveryKey = discoveryKey
        self.host = host
    }

    init?(_ value: PropertyList) {
        guard let account = value["account"]?.dataValue, account.count <= EnrolmentMessage.maximumCertificate,
            let certificates = value["certificates"]?.arrayValue?.compactMap(\.dataValue),
            certificates.count == value["certificates"]?.arrayValue?.count,
            (1...EnrolmentMessage.maximumTeams).contains(certificates.count),
            certificates.allSatisfy({ $0.count <= EnrolmentMessage.maximumCertificate }),
            let key = value["discovery"]?.dataValue, key.count == 32,
            let host = value["host"]?.stringValue, host.utf8.count <= Hello.maximumNameSize
        else { return nil }
        self.init(
            account: Array(account),
            certificates: certificates.map { Array($0) },
            discoveryKey: Array(key),
            host: host
        )
    }

    var propertyList: [String: PropertyList] {
        [
            "account": .data(Data(account)), "certificates": .array(certificates.map { .data(Data($0)) }),
            "discovery": .data(Data(discoveryKey)), "host": .string(host),
        ]
    }
}
