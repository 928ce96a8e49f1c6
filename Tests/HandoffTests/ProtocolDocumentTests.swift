import Foundation
import HandoffModel
import HandoffSupport
import Testing

@testable import Handoff
@testable import HandoffTransport

/// What docs/protocol.md promises to other implementations, compared with this one.
@Suite("docs/protocol.md")
struct ProtocolDocumentTests {
    private let document: String

    init() throws {
        let repository = URL(fileURLWithPath: #filePath)
            .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        document = try String(contentsOf: repository.appendingPathComponent("docs/protocol.md"), encoding: .utf8)
    }

    @Test("The vectors of the announcement and the dial proof are what we make")
    func vectors() throws {
        let (key, salt) = (Array(UInt8(0)..<32), try #require(DiscoverySalt(Array(0..<8))))
        let accountHash = Crypto.sha256(Array("account".utf8))
        #expect(try BaseEncoding.hexadecimal(accountHash) == vector("account hash"))
        let tags = DiscoveryTags(
            accountHash: accountHash,
            team: try #require(TeamID("A1B2C3D4E5")),
            authenticator: { Crypto.hmacSHA256(key: $0, message: $1) }
        )
        let record = tags.record(versions: .current, salt: salt, key: key)
        let strings = record.strings.map { String(decoding: $0, as: UTF8.self) }
        #expect(try strings.dropFirst(2) == ["sl=\(vector("sl"))", "ah=\(vector("ah"))", "tm=\(vector("tm"))"])
        #expect(try DialProof.make(discoveryKey: key, nonce: Array(0..<16)) == vector("server name"))
    }

    @Test("The vectors of the enrolment's keys are what we make of the code")
    func enrolment() throws {
        let code = try InvitationCode(typed: "0123-4567-89AB-CDEF").bytes
        let salted = PreSharedKey(code: code, salt: Array(0..<16))
        #expect(try BaseEncoding.hexadecimal(salted.bytes) == vector("salted key"))
        let fixed = PreSharedKey(code: code, salt: PreSharedKey.fixedSalt)
        #expect(try BaseEncoding.hexadecimal(fixed.bytes) == vector("fixed key"))
    }

    @Test("The vectors of the account's statements are what we make")
    func statements() throws {
        let accountHash = Crypto.sha256(Array("account".utf8))
        let revocation = Revocation(
            machine: try #require(UUID(uuidString: "6f9619ff-8b86-4d01-b42d-00cf4fc964ff")),
            serial: [1, 2],
            date: 1_800_000_000
        ) { _ in [] }
        #expect(try BaseEncoding.hexadecimal(revocation.content) == vector("revocation"))
        let signed = revocation.signedBytes(accountHash: accountHash)
        #expect(try BaseEncoding.hexadecimal(Crypto.sha256(signed)) == vector("digest"))
        let key = AccountAuthority.discoveryKey(ofGeneration: 2, scalar: Array(0..<32), accountHash: accountHash)
        #expect(try BaseEncoding.hexadecimal(key) == vector("second key"))
    }

    @Test("The frame of a ping is read as one")
    func frame() throws {
        let lines = try section("Test vectors").split(separator: "\n").filter { $0.hasPrefix("    ") }
        let digits = lines.map { $0.filter { $0 != " " } }.filter { $0.allSatisfy(\.isHexDigit) }.joined()
        var decoder = FrameDecoder()
        decoder.append(try #require(BaseEncoding.decodeHexadecimal(digits)))
        let body = try #require(try decoder.next())
        #expect(ReceivedMessage(body: body) == .known(.ping(sequence: 1)))
    }

    @Test("Its script in Python makes its vectors")
    func script() throws {
        let script = try #require(try section("Test vectors").firstMatch(of: /```python\n([^`]*)```/)).1
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = ["python3", "-c", String(script)]
        let output = Pipe()
        process.standardOutput = output
        try process.run()
        let words = String(decoding: try output.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
            .split(whereSeparator: \.isWhitespace)
        process.waitUntilExit()
        let values = try ["sl", "ah", "tm", "server name", "revocation", "digest", "second key"].map { try vector($0) }
        #expect(words.prefix(7).map(String.init) == values)
        let frame = try section("Test vectors").split(whereSeparator: \.isWhitespace).joined(separator: " ")
        #expect(frame.contains(words.dropFirst(7).joined(separator: " ")))
        #expect(words.count == 7 + 4 + 0x47)
    }

    @Test("The table of errors has our codes and their numbers, and no other")
    func errors() throws {
        let rows = try section("Errors").matches(of: /\| (\d+) \| (\w+) \|/)
        #expect(rows.count == 12)
        for row in rows {
            let number = try #require(Int(row.1))
            let error = HandoffError(.init(rawValue: number), "")
            #expect(error.code.rawValue == number)
            #expect(String(reflecting: error.code).contains(String(row.2)))
        }
    }

    @Test("The table of alerts has the reasons that we read out of them")
    func alerts() throws {
        let rows = try section("TLS").matches(of: /\| (\d+) \w+ \| `(\w+)`/)
        #expect(rows.count == 11)
        for row in rows {
            let code = try #require(CInt(row.1).flatMap { TransportError.Code(alert: $0) })
            #expect(PairingFailure(TransportError(code, refusedBy: .them)).rawValue == row.2)
        }
    }

    @Test("The table of messages has the kinds that we know")
    func kinds() throws {
        let rows = try section("Messages").matches(of: /\n\| ((`\w+`(, )?)+) \|/)
        let kinds = rows.flatMap { $0.1.matches(of: /\w+/).map { String($0.0) } }
        #expect(kinds.count == 20)
        for kind in kinds {
            // Without its keys a known kind is a violation, and not an unknown one; `unsupported` lacks one here, too.
            let body = try BinaryPropertyList.encode(.dictionary(["kind": .string(kind)]))
            #expect(ReceivedMessage(body: body) == nil, "\(kind)")
        }
    }

    /// The text under a heading, up to the next.
    private func section(_ heading: String) throws -> Substring {
        let start = try #require(document.range(of: "# \(heading)\n")).upperBound
        let end = document.range(of: "\n#", range: start..<document.endIndex)?.lowerBound ?? document.endIndex
        return document[start..<end]
    }

    /// A named value among the vectors.
    private func vector(_ name: String) throws -> String {
        let lines = try section("Test vectors").split(separator: "\n")
        let line = try #require(lines.first { $0.hasPrefix("    \(name)  ") })
        return line.dropFirst(4 + name.count).trimmingCharacters(in: .whitespaces)
    }
}
