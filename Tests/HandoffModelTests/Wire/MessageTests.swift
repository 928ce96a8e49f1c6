import FoundationEssentials
import HandoffModel
import Testing

@Suite("Messages")
struct MessageTests {
    private static let id = LinkFixture.machineA

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
