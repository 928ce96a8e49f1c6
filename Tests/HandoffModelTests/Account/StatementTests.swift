import FoundationEssentials
import HandoffTestKit
import Testing

@testable import HandoffModel

private let accountHash = [UInt8](repeating: 7, count: 32)

func revocation(
    _ machine: UUID = UUID(),
    date: Int64 = 1_000_000,
    serial: [UInt8] = [1, 2],
    signature: UInt8 = 9
) -> Revocation {
    Revocation(machine: machine, serial: serial, date: date) { _ in [UInt8](repeating: signature, count: 70) }
}

func key(_ generation: Int64, _ byte: UInt8 = 1, date: Int64 = 1_000_000, signature: UInt8 = 9) -> DiscoveryKeyStatement
{
    DiscoveryKeyStatement(generation: generation, date: date, key: [UInt8](repeating: byte, count: 32)) { _ in
        [UInt8](repeating: signature, count: 70)
    }
}

@Suite("What an account says")
struct StatementTests {
    @Test("is read as it was written, and signed over its kind, the account and the content")
    func roundTrip() throws {
        let revoked = revocation()
        #expect(Revocation(bytes: revoked.bytes) == revoked)
        #expect(revoked.content.count == 27)
        let signed = revoked.signedBytes(accountHash: accountHash)
        #expect(signed == Array("handoff/1 revocation".utf8) + [0] + accountHash + revoked.content)
        let made = key(3)
        #expect(DiscoveryKeyStatement(bytes: made.bytes) == made)
        #expect(made.signedBytes(accountHash: accountHash).starts(with: Array("handoff/1 discovery key\0".utf8)))
    }

    @Test("is not read where it is too short, too long, or tells what cannot be")
    func hostile() {
        let good = revocation().bytes
        for count in 0..<35 { #expect(Revocation(bytes: Array(good.prefix(count))) == nil, "\(count)") }
        #expect(Revocation(bytes: good + [0, 0, 0]) == nil)
        var bytes = good
        bytes[24] = 21  // longer than a serial number can be
        #expect(Revocation(bytes: bytes) == nil)
        bytes = good
        for first: UInt8 in [0x01, 0x7f, 0x80, 0xff] {
            bytes[16] = first  // a date beyond the year 9999
            #expect(Revocation(bytes: bytes) == nil)
        }
        let goodKey = key(1).bytes
        for count in 0..<56 { #expect(DiscoveryKeyStatement(bytes: Array(goodKey.prefix(count))) == nil) }
        for (index, value) in [(0, UInt8(0xff)), (0, 0x7f), (3, 2), (8, 0xff)] {
            var bytes = goodKey
            bytes[index] = value
            #expect(DiscoveryKeyStatement(bytes: bytes) == nil)
        }
        var none = goodKey
        none[7] = 0
        #expect(DiscoveryKeyStatement(bytes: none) == nil)
    }

    @Test("grows to the same in whatever order and however often it comes", arguments: 0..<20)
    func merging(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        let machines = (0..<12).map { _ in UUID() }
        let all = (0..<60).map { _ in
            revocation(
                machines.randomElement(using: &generator) ?? UUID(),
                date: .random(in: 0...3, using: &generator),
                serial: [.random(in: 0...1, using: &generator)],
                signature: .random(in: 0...3, using: &generator)
            )
        }
        let parts = [all.prefix(20), all[15..<40], all.suffix(25)].map { StatementSet($0) }
        func union(_ sets: [StatementSet<Revocation>]) -> StatementSet<Revocation> {
            sets.dropFirst().reduce(into: sets[0]) { $0.formUnion($1) }
        }
        let whole = StatementSet(all.shuffled(using: &generator))
        #expect(union(parts) == whole)
        #expect(union(parts.reversed()) == whole)
        #expect(union([parts[1], union([parts[2], parts[0]])]) == whole)
        #expect(union([whole, whole, parts[1]]) == whole)
        #expect(whole.count <= machines.count)
        #expect(whole.subtracting(whole).isEmpty)
    }

    @Test("is kept up to its limit, the latest, whatever order it comes in")
    func limits() {
        let all = (0..<1_200).map { revocation(date: Int64($0)) }
        let (forth, back) = (StatementSet(all), StatementSet(all.reversed()))
        #expect(forth == back)
        #expect(forth.count == Revocation.maximumCount)
        #expect(forth.ordered.last?.date == 200)
        var set = forth
        let isTaken = set.insert(revocation(date: 3))
        #expect(!isTaken)
        #expect(set == forth)
        let keys = StatementSet((1...40).map { key(Int64($0), UInt8($0)) })
        #expect(keys.count == DiscoveryKeyStatement.maximumCount)
        #expect(keys.ordered.first?.generation == 40)
    }

    @Test("is dropped when the certificates have ended, and the keys 400 days after the next one")
    func expiry() {
        let now = Revocation.lifetime + 2_000_000
        var statements = AccountStatements()
        let (over, counts) = (revocation(date: 1_999_999), revocation(date: 2_000_000))
        statements.revocations = StatementSet([over, counts])
        statements.keys = StatementSet([
            key(1, 1, date: 0), key(2, 2, date: 1_999_999), key(2, 3, date: 0), key(3, 4, date: 2_000_000),
        ])
        statements.removeExpired(at: now)
        #expect(statements.revocations.ordered == [counts])
        // The first was replaced by the second; the second and its rival by the third, just now.
        #expect(statements.keys.ordered.map(\.generation) == [3, 2, 2])
        statements.removeExpired(at: now + 1)
        #expect(statements.isRevoked(counts.machine) == false)
        #expect(statements.keys.ordered.map(\.generation) == [3])
    }

    @Test("decides on one current key, unless this machine was told a newer one")
    func currentKey() {
        var statements = AccountStatements()
        let own = [UInt8](repeating: 1, count: 32)
        #expect(statements.discoveryKeys(own: own) == [own])
        let (left, right) = (key(2, 5), key(2, 6))
        statements.keys = StatementSet([left, key(1, 1), right])
        #expect(statements.discoveryKeys(own: own) == [right.key, left.key, own])
        let told = [UInt8](repeating: 9, count: 32)
        #expect(statements.discoveryKeys(own: told).first == told)
    }

    @Test("comes back from its file, and not from another account's or a damaged one")
    func file() throws {
        var statements = AccountStatements()
        statements.revocations = StatementSet(
            (0..<1_000).map { revocation(date: Int64($0), serial: .init(repeating: 1, count: 20)) }
        )
        statements.keys = StatementSet((1...32).map { key(Int64($0), UInt8($0)) })
        let bytes = try statements.encoded(accountHash: accountHash)
        #expect(bytes.count < 200_000)
        #expect(AccountStatements(encoded: bytes, accountHash: accountHash) == statements)
        let other = try #require(AccountStatements(encoded: bytes, accountHash: [UInt8](repeating: 8, count: 32)))
        #expect(other.isEmpty)
        #expect(AccountStatements(encoded: Array(bytes.dropLast()), accountHash: accountHash) == nil)
        #expect(AccountStatements(encoded: [], accountHash: accountHash) == nil)
    }

    @Test("fits into one message, with its limits")
    func messages() throws {
        let many = (0..<1_000).map { revocation(date: Int64($0), serial: .init(repeating: 1, count: 20)) }
        let message = Message.revocations(many, keys: (1...32).map { key(Int64($0), UInt8($0)) })
        #expect(try ReceivedMessage(body: message.encoded()) == .known(message))
        for message in [
            Message.revocations([], keys: []), .renew(request: 3, certificateRequest: [1, 2]),
            .certificate(request: 3, [4, 5]),
        ] {
            #expect(try ReceivedMessage(body: message.encoded()) == .known(message))
        }
    }

    @Test(
        "is a violation in a message that breaks a rule",
        arguments: [
            ["kind": "revocations"], ["kind": "revocations", "revocations": "none"],
            ["kind": "revocations", "revocations": [.data(Data([1, 2, 3]))]],
            ["kind": "revocations", "revocations": [1]],
            ["kind": "revocations", "revocations": [], "keys": [.data(Data(revocation().bytes))]],
            ["kind": "revocations", "revocations": [], "keys": ["key"]],
            [
                "kind": "revocations",
                "revocations": .array((0..<1_001).map { .data(Data(revocation(date: $0).bytes)) }),
            ],
            [
                "kind": "revocations", "revocations": [],
                "keys": .array((1...33).map { .data(Data(key($0, UInt8($0)).bytes)) }),
            ],
            ["kind": "renew", "request": 1], ["kind": "renew", "csr": .data(Data([1]))],
            ["kind": "renew", "request": 1, "csr": .data(Data(count: 8 * 1024 + 1))],
            ["kind": "certificate", "request": 1, "certificate": "PEM"],
        ] as [PropertyList]
    )
    func violations(_ message: PropertyList) throws {
        #expect(try ReceivedMessage(body: BinaryPropertyList.encode(message)) == nil)
    }

    @Test("travels in a greeting, in part")
    func greeting() throws {
        func hello(_ revocations: [Revocation]) throws -> Hello {
            Hello(
                versions: .current,
                instance: try #require(InstanceID([UInt8](repeating: 1, count: 16))),
                app: "org.example.test",
                name: "test",
                host: "test",
                isVisitor: false,
                types: [],
                service: nil,
                holdsKey: true,
                revocations: revocations
            )
        }
        let some = (0..<16).map { revocation(date: Int64($0)) }
        let message = Message.hello(try hello(some))
        #expect(try ReceivedMessage(body: message.encoded()) == .known(message))
        let tooMany = Message.hello(try hello(some + [revocation()]))
        #expect(try ReceivedMessage(body: tooMany.encoded()) == nil)
    }
}

@Suite("The machines of an account")
struct KnownMachineTests {
    private func machine(_ id: UUID = UUID(), seen: Double = 0, end: Double = 0, team: String = "A1B2C3D4E5")
        -> KnownMachine
    {
        KnownMachine(
            id: id,
            host: "kitchen",
            teams: [team],
            lastSeen: Date(timeIntervalSinceReferenceDate: seen),
            certificateEnd: Date(timeIntervalSinceReferenceDate: end),
            serial: [UInt8(clamping: Int(end))],
            holdsKey: nil
        )
    }

    @Test("are remembered with all their teams and the last end of their certificates, and come back from a file")
    func noted() throws {
        var machines = KnownMachines()
        let id = UUID()
        machines.note(machine(id, seen: 1, end: 9))
        machines.note(machine(id, seen: 2, end: 5, team: "ZZZZZZZZZ9"))
        let isNews = (machines.note(machine(id, seen: 61, end: 9)), machines.note(machine(id, seen: 62, end: 9)))
        #expect(isNews == (false, true))
        let known = try #require(machines[id])
        #expect(known.teams == ["A1B2C3D4E5", "ZZZZZZZZZ9"])
        #expect(known.certificateEnd.timeIntervalSinceReferenceDate == 9)
        #expect(known.serial == [9])
        #expect(known.lastSeen.timeIntervalSinceReferenceDate == 62)
        let bytes = try machines.encoded(accountHash: accountHash)
        #expect(KnownMachines(encoded: bytes, accountHash: accountHash) == machines)
        #expect(KnownMachines(encoded: bytes, accountHash: [1])?.all.isEmpty == true)
        #expect(KnownMachines(encoded: [1, 2], accountHash: accountHash) == nil)
    }

    @Test("are forgotten where they are too many, the longest unseen first")
    func bounded() throws {
        var machines = KnownMachines()
        for index in 0..<300 { machines.note(machine(seen: Double(index))) }
        #expect(machines.all.count == KnownMachine.maximumCount)
        #expect(machines.all.map { $0.lastSeen.timeIntervalSinceReferenceDate }.min() == 44)
        _ = try machines.encoded(accountHash: accountHash)
    }
}
