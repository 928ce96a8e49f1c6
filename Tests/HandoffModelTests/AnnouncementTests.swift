import HandoffModel
import HandoffSupport
import HandoffTestKit
import Testing

@Suite("Announcement records")
struct AnnouncementRecordTests {
    private static let strings = [
        "txtvers=1", "v=1", "sl=oKGio6Slpqc", "ah=O8EcTm79oH1o2H2PniReSg", "tm=n2mNxWYtnstpFRyA-NeNXg",
    ]

    private func record(_ strings: [String]) throws -> AnnouncementRecord {
        try AnnouncementRecord(strings: strings.map { Array($0.utf8) })
    }

    private func refusal(_ strings: [String]) -> NotAPeer.Code? {
        do {
            _ = try record(strings)
            return nil
        } catch {
            return (error as? NotAPeer)?.code
        }
    }

    @Test("A record is written as it was read")
    func roundTrip() throws {
        let record = try record(Self.strings)
        #expect(record.strings.map { String(decoding: $0, as: UTF8.self) } == Self.strings)
        #expect(record.versions == .current)
        #expect(record.salt.bytes == Array(0xA0...0xA7))
    }

    @Test("A record is ASCII, under 200 bytes, and as long as every other")
    func size() throws {
        var generator = SeededGenerator(seed: 5)
        let lengths = try (0..<50).map { _ in
            let tag = try #require(DiscoveryTag((0..<16).map { _ in .random(in: 0...255, using: &generator) }))
            let record = AnnouncementRecord(
                versions: .current,
                salt: .make(using: &generator),
                accountTag: tag,
                teamTag: tag
            )
            #expect(record.strings.joined().allSatisfy { $0 < 0x80 })
            return record.strings.reduce(0) { $0 + 1 + $1.count }
        }
        #expect(Set(lengths) == [81])
    }

    @Test("Order, case of keys and unknown keys do not matter")
    func lenient() throws {
        let expected = try record(Self.strings)
        #expect(try record(Self.strings.reversed()) == expected)
        #expect(try record(Self.strings.map { $0.replacingKey { $0.uppercased() } }) == expected)
        #expect(try record(["new=thing", "flag", "", "=x", "v2=5", "new=again"] + Self.strings) == expected)
        let binary = [Array("\u{e9}=\u{e9}".utf8), [0xFF, 0x3D, 0xFF]] + Self.strings.map { Array($0.utf8) }
        #expect(try AnnouncementRecord(strings: binary) == expected)
    }

    @Test("A known key that is missing is no peer's", arguments: 0..<5)
    func missing(index: Int) {
        var strings = Self.strings
        strings.remove(at: index)
        #expect(refusal(strings) == .missing)
    }

    @Test("A known key that stands twice is no peer's", arguments: 0..<5)
    func duplicate(index: Int) {
        #expect(refusal(Self.strings + [Self.strings[index]]) == .duplicate)
        #expect(refusal(Self.strings + [Self.strings[index].replacingKey { $0.uppercased() }]) == .duplicate)
    }

    @Test("A known key without a value is no peer's", arguments: 0..<5)
    func valueless(index: Int) {
        var strings = Self.strings
        strings[index] = String(strings[index].prefix { $0 != "=" })
        #expect(refusal(strings) == .malformed)
    }

    @Test(
        "A malformed value is no peer's",
        arguments: [
            (1, "v="), (1, "v=0"), (1, "v=1-"), (1, "v=2-1"), (1, "v=x"), (1, "v=\u{661}"),
            (2, "sl="), (2, "sl=oKGio6Slpg"), (2, "sl=oKGio6SlpqcA"), (2, "sl=oKGio6Slpq+"), (2, "sl=oKGio6Slpqc="),
            (3, "ah=oKGio6Slpqc"), (3, "ah=O8EcTm79oH1o2H2PniReSgAA"), (3, "ah=O8EcTm79oH1o2H2PniReSh"),
            (4, "tm=oKGio6Slpqc"), (4, "tm=n2mNxWYtnstpFRyA/NeNXg"), (4, "tm=\u{e9}"),
        ]
    )
    func malformed(index: Int, string: String) {
        var strings = Self.strings
        strings[index] = string
        #expect(refusal(strings) == .malformed)
    }

    @Test("A record of another form is no peer's", arguments: ["", "0", "2", "01"])
    func otherForm(version: String) throws {
        let strings = ["txtvers=\(version)"] + Self.strings.dropFirst()
        let error = try #require(throws: NotAPeer.self) { try record(strings) }
        #expect(error.code == .unsupportedRecord)
        #expect(error.description.contains("txtvers"))
        #expect(throws: error) { try record(["txtvers=9"]) }
    }
}

@Suite("Discovery tags")
struct DiscoveryTagsTests {
    // Made with Python: hmac.new(key, word + salt + subject, hashlib.sha256).digest(), with the keys bytes(range(32))
    // and bytes(range(32, 64)), the salt bytes(range(0xA0, 0xA8)), and hashlib.sha256(b"account").digest() as hash.
    private static let firstKey = [UInt8](0..<32)
    private static let secondKey = [UInt8](32..<64)
    private static let salt = [UInt8](0xA0...0xA7)
    private static let accountHash = "9af211329b2fc82e5efe906062c730082819b23fe8394bc435e0b1bf0458eb54"
    private static let otherHash = "d9298a10d1b0735837dc4bd85dac641b0f3cef27a47e5d53a54f2f3f5b2fcffa"
    private static let account = "6163636f756e74" + "a0a1a2a3a4a5a6a7" + accountHash
    private static let otherAccount = "6163636f756e74" + "a0a1a2a3a4a5a6a7" + otherHash
    private static let team = "7465616d" + "a0a1a2a3a4a5a6a7" + "41424344453132333435"
    private static let otherTeam = "7465616d" + "a0a1a2a3a4a5a6a7" + "5a5a5a5a5a3939393939"
    private static let digests: [[UInt8]: [String: String]] = [
        firstKey: [
            account: "3bc11c4e6efda07d68d87d8f9e245e4a677ae5c6770a8114924a3f191cfa66ca",
            otherAccount: "08faa55d796a1fc38d06c735dfc934cf735df769711de33e07f225a0b1687f81",
            team: "9f698dc5662d9ecb69151c80f8d78d5ef1003728b06642dcaf7ecbddd69db928",
            otherTeam: "be228c5c7e0e2f6502cba32663521e8a867964f60ef3ae172bd1b63dec14ebe2",
        ],
        secondKey: [
            account: "734fb6fc5258f6fd8cbd91dc91616bb493f66846ce4e38005a1a983b9f3f3b6c",
            otherAccount: "cb4d380bf3cceb425b6074a5079bf9097dead01ef51b63c29db4ccd31e0f6430",
            team: "3d74d25b20454e698031af3df7e98a6483968422e730760d76456275cc0b8407",
            otherTeam: "a3cd71d1ecff2b9f069767546918c64b26cfa8f15b93b1aef96773a66242e9d2",
        ],
    ]

    private func tags(hash: String = accountHash, team: String = "ABCDE12345") throws -> DiscoveryTags {
        try DiscoveryTags(
            accountHash: #require(BaseEncoding.decodeHexadecimal(hash)),
            team: #require(TeamID(team))
        ) { key, message in
            // Only a message of exactly the specified form has a digest here.
            guard let digest = Self.digests[key]?[BaseEncoding.hexadecimal(message)],
                let bytes = BaseEncoding.decodeHexadecimal(digest)
            else {
                Issue.record("a message of another form: \(BaseEncoding.hexadecimal(message))")
                return Array(repeating: 0, count: 32)
            }
            return bytes
        }
    }

    private func record(of tags: DiscoveryTags, key: [UInt8] = firstKey) throws -> AnnouncementRecord {
        try tags.record(versions: .current, salt: #require(DiscoverySalt(Self.salt)), key: key)
    }

    @Test("Tags are the first 16 bytes of HMACs over word, salt and subject")
    func vectors() throws {
        let strings = try record(of: tags()).strings.map { String(decoding: $0, as: UTF8.self) }
        #expect(strings[3...] == ["ah=O8EcTm79oH1o2H2PniReSg", "tm=n2mNxWYtnstpFRyA-NeNXg"])
        let otherKey = try record(of: tags(), key: Self.secondKey).strings.map { String(decoding: $0, as: UTF8.self) }
        #expect(otherKey[3...] == ["ah=c0-2_FJY9v2MvZHckWFrtA", "tm=PXTSWyBFTmmAMa899-mKZA"])
    }

    @Test("The same account and team match")
    func same() throws {
        let match = try tags().match(record(of: tags()), keys: [Self.firstKey])
        #expect(match.account && match.team && match.keyIndex == 0)
    }

    @Test("Another team of the account matches as the account alone")
    func anotherTeam() throws {
        let match = try tags().match(record(of: tags(team: "ZZZZZ99999")), keys: [Self.firstKey])
        #expect(match.account && !match.team)
    }

    @Test("Another account does not match, nor does its team of the same name")
    func anotherAccount() throws {
        let match = try tags().match(record(of: tags(hash: Self.otherHash)), keys: [Self.firstKey])
        #expect(!match.account && !match.team && match.keyIndex == nil)
    }

    @Test("A machine with a retired key is recognised, and which key it has")
    func retired() throws {
        let old = try record(of: tags(), key: Self.secondKey)
        let match = try tags().match(old, keys: [Self.firstKey, Self.secondKey])
        #expect(match.account && match.team && match.keyIndex == 1)
        let current = try tags().match(record(of: tags()), keys: [Self.firstKey, Self.secondKey])
        #expect(current.account && current.team && current.keyIndex == 0)
        #expect(try !tags().match(old, keys: [Self.firstKey]).account)
        #expect(try !tags().match(old, keys: []).account)
    }

    @Test("Tags differ when any byte does", arguments: 0..<16)
    func comparison(index: Int) throws {
        let bytes = [UInt8](0..<16)
        var changed = bytes
        changed[index] ^= 0x80
        #expect(DiscoveryTag(bytes) == DiscoveryTag(bytes))
        #expect(DiscoveryTag(bytes) != DiscoveryTag(changed))
    }

    @Test("Tags and salts have one length")
    func wrongLengths() {
        #expect(DiscoveryTag(Array(repeating: 0, count: 15)) == nil)
        #expect(DiscoveryTag(Array(repeating: 0, count: 17)) == nil)
        #expect(DiscoverySalt(Array(repeating: 0, count: 7)) == nil)
        #expect(DiscoverySalt(Array(repeating: 0, count: 9)) == nil)
    }

    @Test("Names and salts come from the generator, new ones each time")
    func randomness() {
        var generator = SeededGenerator(seed: 6)
        let names = (0..<100).map { _ in InstanceName.make(using: &generator) }
        let salts = (0..<100).map { _ in DiscoverySalt.make(using: &generator) }
        #expect(Set(names).count == 100 && Set(salts).count == 100)
        #expect(names.allSatisfy { $0.wholeMatch(of: /h-[a-z2-7]{10}/) != nil })
        var again = SeededGenerator(seed: 6)
        #expect(InstanceName.make(using: &again) == names[0])
    }
}

@Suite("Team IDs and protocol versions")
struct TeamAndVersionTests {
    @Test("A team ID is ten characters A-Z and 0-9")
    func teams() {
        #expect(TeamID("ABCDE12345")?.description == "ABCDE12345")
        #expect(TeamID("AZ09AZ09AZ") != nil)
        let wrong = [
            "", "ABCDE1234", "ABCDE123456", "abcde12345", "ABCDE-2345", "ABCDE 2345", "ÀBCDE1234", "ABCDE1234\u{661}",
            "ABCDE1234\n", "ABCDE1234@", "ABCDE1234[", "ABCDE1234/", "ABCDE1234:",
        ]
        for text in wrong { #expect(TeamID(text) == nil, "\(text)") }
    }

    @Test("A range of versions has one text", arguments: ["1", "2", "1-2", "3-99"])
    func versions(text: String) {
        #expect(ProtocolVersions(text)?.description == text)
    }

    @Test(
        "Any other text is no range",
        arguments: [
            "", "0", "-1", "1-", "-", "1-1", "2-1", "01", "+1", "1-2-3", "1 ", "100", "1-100", "0-1", "1.0",
            "99999999999999999999",
        ]
    )
    func noVersions(text: String) {
        #expect(ProtocolVersions(text) == nil)
    }

    @Test(
        "The highest version that both speak is taken",
        arguments: [("1", "1", 1), ("1-2", "1", 1), ("1-3", "2-5", 3), ("1", "2", nil), ("3-4", "1-2", nil)]
            as [(String, String, Int?)]
    )
    func negotiation(one: String, other: String, expected: Int?) throws {
        let (one, other) = try (#require(ProtocolVersions(one)), #require(ProtocolVersions(other)))
        #expect(one.negotiated(with: other) == expected)
        #expect(other.negotiated(with: one) == expected)
    }
}

extension String {
    /// The string with what stands before "=" changed.
    fileprivate func replacingKey(_ change: (String) -> String) -> String {
        let key = String(prefix { $0 != "=" })
        return change(key) + dropFirst(key.count)
    }
}
