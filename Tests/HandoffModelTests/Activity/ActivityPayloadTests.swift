import FoundationEssentials
import HandoffModel
import Testing

@Suite("What travels with an activity")
struct ActivityPayloadTests {
    private static let offer = Offer(id: UUID(), type: "a.b", title: "t", hasWebpage: true)

    private func details(_ change: (inout ActivityDetails) -> Void) -> ActivityDetails {
        var details = ActivityDetails()
        change(&details)
        return details
    }

    /// What the other end reads of a payload with some of its keys replaced.
    private func read(_ payload: ActivityPayload, with keys: [String: PropertyList] = [:]) throws -> ReceivedMessage? {
        let body = try Message.activity(request: 1, payload).encoded()
        var message = try #require(try BinaryPropertyList.decode(body).dictionaryValue)
        let activity = try #require(message["activity"]?.dictionaryValue)
        message["activity"] = .dictionary(activity.merging(keys) { $1 })
        return ReceivedMessage(body: try BinaryPropertyList.encode(.dictionary(message)))
    }

    @Test("Every property arrives as it was set")
    func details() throws {
        let details = details {
            $0.requiredUserInfoKeys = ["a", "b"]
            $0.webpageURL = WebpageURL.parse("https://example.org/a?b=c#d")
            $0.expirationDate = Date(timeIntervalSinceReferenceDate: 1.5)
            $0.targetContentIdentifier = "note 1"
        }
        let payload = try ActivityPayload(offer: Self.offer, userInfo: ["a": 1, "b": 2], details: details)
        #expect(try read(payload) == .known(.activity(request: 1, payload)))
    }

    @Test("A required key that is missing fails by its name, at either end")
    func requiredKeys() throws {
        let required = details { $0.requiredUserInfoKeys = ["title", "content"] }
        let error = #expect(throws: HandoffError.self) {
            try ActivityPayload(offer: Self.offer, userInfo: ["title": ""], details: required)
        }
        #expect(error?.code == .missingKey)
        #expect(error?.key == "content")
        let complete = try ActivityPayload(
            offer: Self.offer,
            userInfo: ["title": "", "content": ""],
            details: required
        )
        guard case .known(.activity(_, let arrived)) = try read(complete, with: ["userInfo": ["content": ""]]) else {
            return #expect(Bool(false), "the payload was not read")
        }
        let missing = #expect(throws: HandoffError.self) { try arrived.check() }
        #expect(missing?.key == "title")
    }

    @Test("Details over their limits are refused")
    func limits() {
        func check(_ change: (inout ActivityDetails) -> Void) throws {
            _ = try ActivityPayload(offer: Self.offer, userInfo: [:], details: details(change))
        }
        #expect(throws: Never.self) { try check { $0.targetContentIdentifier = String(repeating: "x", count: 1024) } }
        #expect(throws: HandoffError(.invalidActivity, "")) {
            try check { $0.targetContentIdentifier = String(repeating: "x", count: 1025) }
        }
        #expect(throws: HandoffError(.invalidActivity, "")) {
            try check { $0.requiredUserInfoKeys = Set((0...64).map { "\($0)" }) }
        }
    }

    @Test(
        "A property of the wrong type is no message",
        arguments: [
            ["required": 1], ["required": ["a", "a"]], ["required": [1]], ["webpage": "ftp://example.org"],
            ["webpage": "https://"], ["webpage": 1], ["expires": "tomorrow"], ["target": 1], ["version": "1"],
            ["version": 0], ["version": 2, "oldestReader": 3], ["oldestReader": 2],
        ] as [[String: PropertyList]]
    )
    func wrongTypes(keys: [String: PropertyList]) throws {
        let payload = try ActivityPayload(offer: Self.offer, userInfo: [:])
        #expect(try read(payload) != nil)
        #expect(try read(payload, with: keys) == nil)
    }

    @Test(
        "A web page is http or https, with a host",
        arguments: [
            ("https://example.org", true), ("HTTP://example.org/x", true), ("http://[::1]:80/", true),
            ("ftp://example.org", false), ("file:///etc/passwd", false), ("javascript:alert(1)", false),
            ("https:", false), ("https:///x", false), ("example.org", false), ("", false),
            ("https://example.org/" + String(repeating: "x", count: 2028), true),
            ("https://example.org/" + String(repeating: "x", count: 2029), false),
        ]
    )
    func webpages(text: String, isValid: Bool) {
        #expect((WebpageURL.parse(text) != nil) == isValid)
    }

    @Test(
        "Apps of different content versions understand each other as the newer one says",
        arguments: [
            // The reader's version; what was written; whether it can be read.
            (1, ContentVersion.first, true), (2, .first, true), (1, ContentVersion(2), true),
            (1, ContentVersion(2, oldestReader: 2), false), (2, ContentVersion(2, oldestReader: 2), true),
            (2, ContentVersion(5, oldestReader: 2), true), (9, ContentVersion(5, oldestReader: 5), true),
        ]
    )
    func contentVersions(reader: Int, written: ContentVersion, isReadable: Bool) {
        #expect(ContentVersion(reader).canRead(written) == isReadable)
    }

    @Test("An activity is offered while it is current, eligible and not expired")
    func isOffered() {
        let now = Date(timeIntervalSinceReferenceDate: 1000)
        var state = ActivityState()
        #expect(!state.isOffered(at: now))
        #expect(state.becomeCurrent() == true)
        #expect(state.isOffered(at: now))
        state.details.expirationDate = now + 1
        #expect(state.isOffered(at: now))
        #expect(!state.isOffered(at: now + 1))
        state.details.expirationDate = nil
        state.isEligibleForHandoff = false
        #expect(!state.isOffered(at: now))
    }
}
