import FoundationEssentials
import HandoffModel
import Testing

@Suite("Messages of an enrolment")
struct EnrolmentMessageTests {
    private static let time = Date(timeIntervalSince1970: 1_800_000_000)
    private static let request = EnrolmentRequest(certificateRequest: [1, 2, 3], host: "laptop", time: time)
    private static let grant = EnrolmentGrant(
        account: [4, 5],
        certificates: [[6], [7, 8]],
        discoveryKey: [UInt8](repeating: 9, count: 32),
        host: "kitchen"
    )

    private func body(of frame: [UInt8]) throws -> [UInt8] {
        var decoder = FrameDecoder()
        decoder.append(frame)
        return try #require(try decoder.next())
    }

    @Test(
        "are read as they were written",
        arguments: [.request(request), .grant(grant), .saved, .refused(reason: "clocksDiffer", message: "No, sorry")]
            as [EnrolmentMessage]
    )
    func roundTrip(_ message: EnrolmentMessage) throws {
        #expect(EnrolmentMessage(body: try body(of: message.frame())) == message)
    }

    @Test("of a grant are refused with one thing wrong each")
    func wrongGrants() throws {
        let good: [String: PropertyList] = [
            "kind": "grant", "account": .data(Data([1])), "certificates": [.data(Data([2]))],
            "discovery": .data(Data(repeating: 3, count: 32)), "host": "kitchen",
        ]
        #expect(EnrolmentMessage(body: try BinaryPropertyList.encode(.dictionary(good))) != nil)
        let wrong: [(String, PropertyList?)] = [
            ("kind", "hello"), ("kind", nil), ("kind", 1), ("account", nil), ("account", "text"),
            ("account", .data(Data(count: EnrolmentMessage.maximumCertificate + 1))), ("certificates", []),
            ("certificates", .array([.data(Data()), "x"])),
            ("certificates", .array(Array(repeating: .data(Data([1])), count: 9))),
            ("discovery", .data(Data(count: 31))), ("discovery", nil),
            ("host", .string(String(repeating: "x", count: 256))),
        ]
        for (key, value) in wrong {
            var fields = good
            fields[key] = value
            #expect(EnrolmentMessage(body: try BinaryPropertyList.encode(.dictionary(fields))) == nil, "\(key)")
        }
    }

    @Test("of a request are refused where something is missing, too large or of another type")
    func wrongRequests() throws {
        let good: [String: PropertyList] = [
            "kind": "request", "csr": .data(Data([1])), "host": "laptop", "time": .date(Self.time),
        ]
        #expect(EnrolmentMessage(body: try BinaryPropertyList.encode(.dictionary(good))) != nil)
        let wrong: [(String, PropertyList?)] = [
            ("csr", nil), ("csr", .data(Data(count: EnrolmentMessage.maximumCertificate + 1))), ("host", 1),
            ("host", .string(String(repeating: "é", count: 128))), ("time", nil), ("time", 1_800_000_000),
        ]
        for (key, value) in wrong {
            var fields = good
            fields[key] = value
            #expect(EnrolmentMessage(body: try BinaryPropertyList.encode(.dictionary(fields))) == nil, "\(key)")
        }
    }

    @Test("are no property lists of another kind, nor too long ones, nor anything else")
    func hostile() throws {
        #expect(EnrolmentMessage(body: []) == nil)
        #expect(EnrolmentMessage(body: Array("bplist00".utf8)) == nil)
        #expect(EnrolmentMessage(body: [UInt8](repeating: 0xff, count: 70_000)) == nil)
        let large: PropertyList = [
            "kind": "refused", "reason": "x", "message": .string(String(repeating: "x", count: 70_000)),
        ]
        #expect(EnrolmentMessage(body: try BinaryPropertyList.encode(large)) == nil)
        let long: PropertyList = [
            "kind": "refused", "reason": "x", "message": .string(String(repeating: "x", count: 5_000)),
        ]
        guard case .refused(_, let text) = EnrolmentMessage(body: try BinaryPropertyList.encode(long)) else {
            Issue.record("a long text is cut, not refused")
            return
        }
        #expect(text.count == 500)
    }
}
