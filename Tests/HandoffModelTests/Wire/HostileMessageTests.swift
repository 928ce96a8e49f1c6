import FoundationEssentials
import HandoffModel
import HandoffSupport
import Testing

/// Swift traps on overflow and on what is out of range: a value that nobody thought of would end the process.
@Suite("Messages with values that nobody sends in earnest")
struct HostileMessageTests {
    private static let id = LinkFixture.machineA.uuidString
    private static let offer: PropertyList = [
        "id": .string(id), "type": "a.b", "title": "t", "streams": true, "web": true, "version": 3, "oldestReader": 2,
    ]
    private static let bytes32 = PropertyList.data(Data(count: 32))

    /// One message of each kind, with every key that it may have.
    private static let messages: [[String: PropertyList]] = [
        [
            "kind": "hello", "versions": "1-2", "instance": .data(Data(count: 16)), "app": "a.b", "name": "n",
            "host": "h", "visitor": true, "types": ["a.b"], "service": "h-0123456789", "port": 24280,
        ],
        ["kind": "ping", "sequence": 1], ["kind": "pong", "sequence": 1], ["kind": "offers", "offers": [offer]],
        ["kind": "fetch", "request": 1, "activity": .string(id)],
        [
            "kind": "activity", "request": 1,
            "activity": .dictionary(
                (offer.dictionaryValue ?? [:]).merging([
                    "userInfo": ["k": 1], "required": ["k"], "webpage": "https://example.org", "expires": .date(Date()),
                    "target": "t",
                ]) { $1 }
            ),
        ],
        ["kind": "error", "request": 1, "code": 4608, "message": "m", "key": "k"],
        ["kind": "continued", "activity": .string(id)], ["kind": "update", "activity": .string(id)],
        ["kind": "send", "request": 1, "offer": offer], ["kind": "accept", "request": 1],
        ["kind": "decline", "request": 1, "code": 5000, "message": "m"],
        ["kind": "failed", "activity": .string(id), "code": 5004, "message": "m", "key": "k"],
        ["kind": "openStream", "request": 1, "activity": .string(id)],
        [
            "kind": "openStream", "request": 1,
            "blob": ["sha256": bytes32, "size": 7, "offset": 3, "prefix": bytes32],
        ],
        ["kind": "stream", "request": 1, "token": bytes32, "port": 24280, "offset": 0],
        ["kind": "unsupported", "request": 1, "unsupported": "dance"], ["kind": "bye", "reason": "leaving"],
    ]

    private static let values: [PropertyList] = [
        .integer(.min), -1, 0, 1, .integer(.max), .real(1e300), .real(.infinity), .real(-0.0), true, "", "\u{0}", "1-",
        .string(String(repeating: "e\u{301}", count: 200)), .string(String(repeating: "x", count: 5000)),
        .data(Data()), .data(Data(count: 31)), .data(Data(count: 33)), .date(.distantPast), [], [:], [[]], [[:]],
        ["": ""], .array(Array(repeating: 1, count: 100)),
    ]

    /// A dictionary with each of its values, at any depth, replaced by a hostile one, or taken away.
    private func variants(of value: PropertyList) -> [PropertyList] {
        switch value {
        case .dictionary(let fields):
            fields.keys.flatMap { key in
                let replaced = (Self.values + (fields[key].map { variants(of: $0) } ?? [])).map { new in
                    PropertyList.dictionary(fields.merging([key: new]) { $1 })
                }
                return replaced + [.dictionary(fields.filter { $0.key != key })]
            }
        case .array(let elements):
            elements.indices.flatMap { index in
                (Self.values + variants(of: elements[index])).map { new in
                    var changed = elements
                    changed[index] = new
                    return .array(changed)
                }
            }
        default: []
        }
    }

    @Test("end the link or are read as what they say, and never end the process", arguments: messages)
    func variants(fields: [String: PropertyList]) throws {
        #expect(
            ReceivedMessage(body: try BinaryPropertyList.encode(.dictionary(fields))) != nil,
            "it is one to begin with"
        )
        for variant in variants(of: .dictionary(fields)) {
            // What cannot be encoded cannot come either.
            guard let body = try? BinaryPropertyList.encode(variant) else { continue }
            guard case .known(let message) = ReceivedMessage(body: body) else { continue }
            if case .activity(_, let payload) = message { _ = try? payload.check() }
            // What was taken can be told again, and is the same then.
            #expect(ReceivedMessage(body: try message.encoded()) == .known(message), "\(variant)")
        }
    }

    @Test("do not end a stream's peer either")
    func streamMessages() throws {
        for fields: PropertyList in [["token": Self.bytes32], ["code": 4608, "message": "m", "key": "k"]] {
            for case .dictionary(let variant) in variants(of: fields) {
                _ = StreamFrame.token(in: variant)
                _ = StreamFrame.failure(in: variant)
            }
        }
    }
}
