import Glibc
import HandoffTestKit
import Testing

@testable import HandoffTransport

@Suite("What an account signs")
struct AccountStatementTests {
    private static let now = Int64(time(nil))

    private let authority = AccountAuthority(name: "Ada", now: now)

    private func identity(of authority: AccountAuthority, daysAgo: Int64 = 0) throws -> Identity {
        let machine = NewMachine()
        let certificate = authority.issue(
            request: machine.certificateRequest(),
            team: "HANDOFFAPP",
            machineID: "6f9619ff-8b86-4d01-b42d-00cf4fc964ff",
            now: Self.now - daysAgo * 86_400
        )
        return try machine.identity(
            account: authority.certificateDER,
            certificate: try #require(certificate),
            discoveryKey: authority.discoveryKey
        )
    }

    @Test("is known as its own by its machines, and by no other account's")
    func signatures() throws {
        let (ours, other) = try (identity(of: authority), identity(of: AccountAuthority(name: "Ada", now: 0)))
        let text = Array("what is said".utf8)
        let signature = authority.sign(text)
        #expect((8...72).contains(signature.count))
        #expect(ours.isSigned(text, by: signature))
        #expect(!other.isSigned(text, by: signature))
        #expect(!ours.isSigned(text + [0], by: signature))
        for bad in [[], [0x30], Array(signature.dropLast()), signature + [0], [UInt8](repeating: 0xff, count: 72)] {
            #expect(!ours.isSigned(text, by: bad))
        }
    }

    @Test("leads to the same discovery keys wherever its key is, and to others at each generation")
    func discoveryKeys() throws {
        let backup = authority.backup(passphrase: Array("passphrase".utf8))
        let elsewhere = try #require(try AccountAuthority(backup: backup, passphrase: Array("passphrase".utf8)))
        #expect(authority.discoveryKey(ofGeneration: 2) == elsewhere.discoveryKey(ofGeneration: 2))
        #expect(authority.discoveryKey(ofGeneration: 2).count == 32)
        #expect(authority.discoveryKey(ofGeneration: 2) != authority.discoveryKey(ofGeneration: 3))
        let stranger = AccountAuthority(name: "Ada", now: 0)
        #expect(authority.discoveryKey(ofGeneration: 2) != stranger.discoveryKey(ofGeneration: 2))
    }

    @Test("renews a certificate for the same key, machine and team, and for nothing else")
    func renewal() throws {
        let old = try identity(of: authority, daysAgo: 350)
        func issue(team: String = old.teamID, machineID: String = old.machineID, daysAgo: Int64 = 0) throws -> [UInt8] {
            try #require(
                authority.issue(
                    request: old.certificateRequest(),
                    team: team,
                    machineID: machineID,
                    now: Self.now - daysAgo * 86_400
                )
            )
        }
        let renewed = try old.renewed(with: issue())
        #expect(renewed.machineID == old.machineID)
        #expect(renewed.notAfter == old.notAfter + 350 * 86_400)
        #expect(renewed.privateKey === old.privateKey)
        #expect(throws: IdentityError.self) { try old.renewed(with: issue(team: "ZZZZZZZZZ9")) }
        #expect(throws: IdentityError.self) { try old.renewed(with: issue(machineID: TestAccount.randomUUID())) }
        #expect(throws: IdentityError.self) { try old.renewed(with: issue(daysAgo: 351)) }
        #expect(throws: IdentityError.self) { try old.renewed(with: [1, 2, 3]) }
        #expect(throws: IdentityError.self) { try identity(of: authority).renewed(with: issue()) }
    }
}
