import FoundationEssentials
import HandoffModel
import HandoffSupport
import Testing

@Suite("Messages")
struct MessageTests {
    private static let id = LinkFixture.machineA
    private static let token = StreamToken(Array(0..<32)).unsafelyUnwrapped  // it has 32 bytes

    private static func digest(_ byte: UInt8) -> ContentDigest {
        ContentDigest(bytes: Array(repeating: byte, count: 32)).unsafelyUnwrapped  // it has 32 bytes
    }

    @Test(
        "Every kind reads back as it was written",
        arguments: [
            .hello(LinkFixture.hello(LinkFixture.a)), .hello(LinkFixture.hello(LinkFixture.a, isVisitor: true)),
            .ping(sequence: 0), .pong(sequence: .max), .offers([]),
            .offers([Offer(id: id, type: "a.b", title: "🛒 Groceries\r\n", supportsStreams: true)]),
            .offers([Offer(id: id, type: "a.b", title: "", hasWebpage: true, contentVersion: .init(3, oldestReader: 2))]
            ),
            .fetch(request: 3, activity: id), .update(activity: id),
            .send(request: 4, Offer(id: id, type: "a.b", title: "t")), .accept(request: 4),
            .decline(request: 4, HandoffError(.refused, "no")), .failed(activity: id, .missingKey("title")),
            .openStream(request: 5, .activity(id)),
            .openStream(request: 5, .blob(BlobRequest(digest: digest(1), size: 1 << 40, offset: 7, prefix: digest(2)))),
            .stream(request: 5, StreamTicket(token: token, port: 24280, offset: 1 << 40)),
            .failure(request: 3, HandoffError(.userInfoTooLarge, "too large")),
            .continued(activity: id), .unsupported(request: nil, kind: "new"), .unsupported(request: 3, kind: "new"),
            .bye(.leaving), .bye(.duplicate), .bye(.done), .bye(.busy), .bye(.refused(.otherTeam)),
            .bye(.refused(PairingFailure(rawValue: "of a newer version"))),
        ] as [Message]
    )
    func roundTrip(message: Message) throws {
        #expect(ReceivedMessage(body: try message.encoded()) == .known(message))
    }

    @Test("A payload keeps every property-list type")
    func payload() throws {
        let payload = try ActivityPayload(
            offer: Offer(id: Self.id, type: "a.b", title: "t"),
            userInfo: [
                "string": "é", "int": -1, "real": 0.5, "bool": true, "data": .data(Data([0, 255])),
                "date": .date(Date(timeIntervalSinceReferenceDate: 1.25)), "array": [1, ["x": "y"]], "dictionary": [:],
            ]
        )
        let body = try Message.activity(request: 1, payload).encoded()
        #expect(ReceivedMessage(body: body) == .known(.activity(request: 1, payload)))
    }

    @Test("userInfo over 64 KiB is refused at its origin, at 64 KiB it is not")
    func tooLarge() throws {
        func payload(_ size: Int) throws -> ActivityPayload {
            try ActivityPayload(
                offer: Offer(id: Self.id, type: "a.b", title: ""),
                userInfo: ["d": .data(Data(count: size))]
            )
        }
        let overhead = try payload(60_000).check() - 60_000
        _ = try payload(ActivityPayload.maximumUserInfoSize - overhead)
        #expect(throws: HandoffError(.userInfoTooLarge, "")) {
            try payload(ActivityPayload.maximumUserInfoSize - overhead + 1)
        }
    }

    @Test(
        "A stream is asked for by what can be, and nothing else",
        arguments: [
            [:], ["activity": "no UUID"], ["blob": "no dictionary"],
            ["blob": ["sha256": .data(Data(count: 32)), "prefix": .data(Data(count: 32)), "size": -1, "offset": 0]],
            ["blob": ["sha256": .data(Data(count: 32)), "prefix": .data(Data(count: 32)), "size": 1, "offset": 2]],
            ["blob": ["sha256": .data(Data(count: 31)), "prefix": .data(Data(count: 32)), "size": 1, "offset": 0]],
        ] as [[String: PropertyList]]
    )
    func streamRequests(keys: [String: PropertyList]) throws {
        let fields = keys.merging(["kind": "openStream", "request": 1]) { $1 }
        #expect(ReceivedMessage(body: try BinaryPropertyList.encode(.dictionary(fields))) == nil)
    }

    @Test("A ticket has a token of 32 bytes, a port and a place")
    func tickets() throws {
        func read(_ keys: [String: PropertyList]) throws -> ReceivedMessage? {
            let ticket: [String: PropertyList] = [
                "kind": "stream", "request": 1, "token": .data(Data(count: 32)), "port": 1,
            ]
            return ReceivedMessage(body: try BinaryPropertyList.encode(.dictionary(ticket.merging(keys) { $1 })))
        }
        #expect(try read([:]) != nil)
        for keys: [String: PropertyList] in [
            ["token": .data(Data(count: 33))], ["port": 0], ["port": 65536], ["offset": -1], ["offset": "1"],
        ] {
            #expect(try read(keys) == nil, "\(keys)")
        }
    }

    @Test("A receipt says that a blob is stored, or why not")
    func receipts() throws {
        #expect(StreamFrame.failure(in: StreamFrame.receipt(nil)) == nil)
        let error = HandoffError(.handoffFailed, "no room")
        #expect(StreamFrame.failure(in: StreamFrame.receipt(error))?.message == "no room")
        #expect(StreamFrame.failure(in: ["code": "?"]) == error)
        #expect(StreamFrame.token(in: StreamFrame.opening(Self.token)) == Self.token)
        #expect(StreamFrame.token(in: [:]) == nil)
    }

    @Test("A stream's messages are frames of 4 KiB at most")
    func streamFrames() throws {
        let message: [String: PropertyList] = ["d": .data(Data(count: 4000))]
        let frame = try #require(StreamFrame.encode(message))
        #expect(StreamFrame.length(Array(frame.prefix(4))) == frame.count - 4)
        #expect(StreamFrame.decode(Array(frame.dropFirst(4))) == message)
        #expect(StreamFrame.encode(["d": .data(Data(count: 4096))]) == nil)
        #expect(StreamFrame.decode([1, 2, 3]) == nil)
        for header: [UInt8] in [[0, 0, 16, 1], [0, 0, 0, 0], [255, 255, 255, 255]] {
            #expect(StreamFrame.length(header) == nil)
        }
    }

    @Test("Unknown keys are ignored")
    func unknownKeys() throws {
        let body = try BinaryPropertyList.encode(["kind": "ping", "sequence": 1, "colour": "blue"])
        #expect(ReceivedMessage(body: body) == .known(.ping(sequence: 1)))
    }

    @Test("A number that no known error has is a failed handoff, and a long error text is cut")
    func foreignError() throws {
        let body = try BinaryPropertyList.encode([
            "kind": "error", "request": 1, "code": 99, "message": .string(String(repeating: "x", count: 100_000)),
        ])
        guard case .known(.failure(1, let error)) = ReceivedMessage(body: body) else {
            Issue.record("not an error")
            return
        }
        #expect(error.code == .handoffFailed)
        #expect(error.message.count == 500)
    }

    @Test("Names, types and lists over their limits are no message")
    func limits() throws {
        var hello = try #require(
            try BinaryPropertyList.decode(try Message.hello(LinkFixture.hello(LinkFixture.a)).encoded()).dictionaryValue
        )
        func isMessage(_ key: String, _ value: PropertyList) throws -> Bool {
            let old = hello[key]
            hello[key] = value
            defer { hello[key] = old }
            return ReceivedMessage(body: try BinaryPropertyList.encode(.dictionary(hello))) != nil
        }
        #expect(try isMessage("name", .string(String(repeating: "n", count: 255))))
        #expect(try !isMessage("name", .string(String(repeating: "n", count: 256))))
        #expect(try !isMessage("app", "not reverse DNS"))
        #expect(try !isMessage("types", .array(Array(repeating: "a.b", count: 65))))
        #expect(try !isMessage("instance", .data(Data(count: 15))))
        let offer: PropertyList = ["id": .string(Self.id.uuidString), "type": "a.b", "title": "t"]
        let many = try BinaryPropertyList.encode([
            "kind": "offers", "offers": .array(Array(repeating: offer, count: 17)),
        ])
        #expect(ReceivedMessage(body: many) == nil)
        let longKind = try BinaryPropertyList.encode(["kind": .string(String(repeating: "k", count: 65))])
        #expect(ReceivedMessage(body: longKind) == nil)
    }

    @Test("A long title is cut between characters when it is offered")
    func longTitle() {
        let offer = Offer(id: Self.id, type: "a.b", title: String(repeating: "👩‍👩‍👧‍👦", count: 100))
        #expect(offer.title.utf8.count <= Offer.maximumTitleSize)
        #expect(offer.title.allSatisfy { $0 == "👩‍👩‍👧‍👦" })
    }
}
