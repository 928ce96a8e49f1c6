import Foundation
import FuzzTargets
import HandoffModel
import HandoffSupport
import HandoffTransport
import Testing

/// What the corpus begins with: the work of the real encoders.
///
/// `HANDOFF_WRITE_CORPUS=1 swift test --filter FuzzTests` writes it anew, after a format has changed.
enum Seeds {
    static let areWritten = ProcessInfo.processInfo.environment["HANDOFF_WRITE_CORPUS"] == "1"

    static func all() throws -> [FuzzTarget: [String: [UInt8]]] {
        let messages = try messages().mapValues { try $0.encoded() }
        let tags = FuzzTarget.tags
        var generator = SystemRandomNumberGenerator()
        let record = tags?.record(
            versions: .current,
            salt: .make(using: &generator),
            key: FuzzTarget.discoveryKey
        )
        let proof = DialProof.make(discoveryKey: FuzzTarget.discoveryKey)
        let code = InvitationCode(bytes: Array(0..<10))?.text ?? ""
        let account = AccountAuthority(name: "Ada", now: 1_800_000_000)
        let request = NewMachine().certificateRequest()
        let certificate = account.issue(
            request: request,
            team: "A1B2C3D4E5",
            machineID: "01234567-89ab-cdef-0123-456789abcdef",
            now: 1_800_000_000
        )
        return [
            .propertyList: try propertyLists().mapValues { try BinaryPropertyList.encode($0) },
            .message: messages,
            .frames: [
                "two": try Frame.encode(messages["ping"] ?? []) + Frame.encode(messages["offers"] ?? []),
                "too-long": [0xFF, 0xFF, 0xFF, 0xFF, 0x62], "empty": [0, 0, 0, 0],
            ],
            .link: try links(messages),
            .stream: [
                "opening": try BinaryPropertyList.encode(.dictionary(StreamFrame.opening(token))),
                "stored": try BinaryPropertyList.encode(.dictionary(StreamFrame.receipt(nil))),
                "failure": try BinaryPropertyList.encode(.dictionary(StreamFrame.receipt(.missingKey("title")))),
                "length": [0, 0, 0x10, 0],
            ],
            .enrolment: try enrolment(request, certificate ?? [], account).mapValues {
                Array(try $0.frame().dropFirst(4))
            },
            .record: [
                "peer": text(of: record?.strings ?? []),
                "unknown-key": text(of: (record?.strings ?? []) + [Array("x=1".utf8), []]),
                "twice": text(of: (record?.strings ?? []) + [Array("V=1-2".utf8)]),
            ],
            .dialProof: ["proof": Array(proof.utf8), "upper": Array(proof.uppercased().utf8)],
            .certificate: ["machine": certificate ?? [], "account": account.certificateDER],
            .certificateRequest: ["request": request],
            .code: [
                "shown": Array(code.utf8), "typed": Array("olil 2345\u{2013}6789 abcd".utf8), "foreign": [0xFF, 0x2D],
            ],
        ]
    }

    private static let date = Date(timeIntervalSinceReferenceDate: 800_000_000)
    private static let id = UUID(uuid: (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16))
    private static var token: StreamToken {
        var generator = SystemRandomNumberGenerator()
        return StreamToken(using: &generator)
    }

    private static func propertyLists() -> [String: PropertyList] {
        var deep: PropertyList = "bottom"
        for _ in 1..<BinaryPropertyList.maximumDepth { deep = [deep] }
        return [
            "scalars": [
                true, false, 0, -1, 255, 65_536, 4_294_967_296, 1.5, .real(.nan), .date(date), .data(Data([1])),
            ],
            "texts": ["", "ascii", "größer", "🙂", "e\u{301}", .string(String(repeating: "x", count: 300))],
            "members": ["a": ["b": [:]], "c": [[], [1, 2]]],
            "many": .array((0..<300).map { .integer($0) }),
            "deep": deep,
        ]
    }

    private static func messages() throws -> [String: Message] {
        var generator = SystemRandomNumberGenerator()
        let offer = Offer(
            id: id,
            type: "org.handoff.notes.note",
            title: "Einkäufe 🛒",
            supportsStreams: true,
            hasWebpage: true,
            contentVersion: ContentVersion(3, oldestReader: 2)
        )
        var details = ActivityDetails()
        details.requiredUserInfoKeys = ["id", "title"]
        details.webpageURL = URL(string: "https://example.org/a%20b?c=d#e")
        details.expirationDate = date
        details.targetContentIdentifier = "note"
        let userInfo: [String: PropertyList] = [
            "id": "1", "title": "Einkäufe", "version": ["a": 1], "modified": .date(date), "hash": .data(Data([1, 2])),
        ]
        let digest = try BlobRequest(
            digest: #require(ContentDigest(bytes: Array(0..<32))),
            size: 10,
            offset: 4,
            prefix: #require(ContentDigest(bytes: Array(32..<64)))
        )
        let revocation = Revocation(machine: id, serial: [1, 2, 3], date: 800_000_000) { _ in Array(0..<70) }
        let key = DiscoveryKeyStatement(generation: 2, date: 800_000_000, key: FuzzTarget.discoveryKey) { _ in
            Array(0..<70)
        }
        return [
            "revocations": .revocations([revocation], keys: [key]),
            "renew": .renew(request: 5, certificateRequest: Array(0..<200)),
            "certificate": .certificate(request: 5, Array(0..<200)),
            "hello": .hello(FuzzTarget.hello(InstanceID(using: &generator))),
            "ping": .ping(sequence: 1), "pong": .pong(sequence: .max),
            "offers": .offers([offer, Offer(id: id, type: "org.handoff.shopping.list", title: "")]),
            "no-offers": .offers([]),
            "fetch": .fetch(request: 1, activity: id),
            "activity": .activity(
                request: 1,
                try ActivityPayload(offer: offer, userInfo: userInfo, details: details)
            ),
            "error": .failure(request: 1, HandoffError(.refused, "not now")),
            "continued": .continued(activity: id), "update": .update(activity: id),
            "send": .send(request: 2, offer), "accept": .accept(request: 2),
            "decline": .decline(request: 2, HandoffError(.versionUnsupported, "too new")),
            "failed": .failed(activity: id, .missingKey("title")),
            "open-activity": .openStream(request: 3, .activity(id)),
            "open-blob": .openStream(request: 3, .blob(digest)),
            "stream": .stream(request: 3, StreamTicket(token: token, port: 24_280, offset: 4)),
            "unsupported": .unsupported(request: 4, kind: "later"),
            "bye": .bye(.leaving), "refusal": .bye(.refused(.otherTeam)),
        ]
    }

    /// What each end reads of a link that goes well, and of one on which too much is said too soon.
    private static func links(_ messages: [String: [UInt8]]) throws -> [String: [UInt8]] {
        func link(_ kinds: String...) throws -> [UInt8] { try kinds.flatMap { try Frame.encode(messages[$0] ?? []) } }
        return [
            "whole": try link("hello", "offers", "ping", "fetch", "activity", "continued", "send", "stream", "bye"),
            "soon": try link("fetch", "hello"), "twice": try link("hello", "no-offers", "hello"),
        ]
    }

    private static func enrolment(
        _ request: [UInt8],
        _ certificate: [UInt8],
        _ account: AccountAuthority
    ) -> [String: EnrolmentMessage] {
        [
            "request": .request(EnrolmentRequest(certificateRequest: request, host: "büro", time: date)),
            "grant": .grant(
                EnrolmentGrant(
                    account: account.certificateDER,
                    certificates: [certificate, certificate],
                    discoveryKey: FuzzTarget.discoveryKey,
                    host: "büro"
                )
            ),
            "saved": .saved,
            "refused": .refused(reason: EnrolmentMessage.clocksDiffer, message: "by 2 hours"),
        ]
    }

    /// A TXT record as it is in DNS.
    private static func text(of strings: [[UInt8]]) -> [UInt8] { strings.flatMap { [UInt8($0.count)] + $0 } }
}
