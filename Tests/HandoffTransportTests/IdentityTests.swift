import Glibc
import HandoffSupport
import HandoffTestKit
import Testing

@testable import HandoffTransport

@Suite("An identity")
struct IdentityTests {
    /// The error of loading an identity after something was done to its directory.
    private func errorOfLoading(
        _ kind: TestAccount.Kind = .good,
        after change: (String) throws -> Void = { _ in }
    ) throws -> IdentityError? {
        try withTemporaryDirectory { directory in
            try account.write(kind, to: directory)
            try change(directory)
            do {
                _ = try Identity.load(directory: directory)
                return nil
            } catch {
                return try #require(error as? IdentityError)
            }
        }
    }

    @Test("It is loaded from its directory")
    func loads() throws {
        let machineID = TestAccount.randomUUID()
        let identity = try withTemporaryDirectory { directory in
            try account.write(machineID: machineID, to: directory)
            return try Identity.load(directory: directory)
        }
        #expect(identity.machineID == machineID)
        #expect(identity.teamID == account.teamID)
        #expect(identity.discoveryKey == account.discoveryKey)
        #expect(identity.accountHash.count == 32)
        #expect(identity.serial.count == 32)
        #expect(identity.notAfter - identity.notBefore == 400 * 86_400 + 3600)
    }

    @Test(
        "A missing file is no identity, and the error says how to get one",
        arguments: ["key.pem", "certificate.pem", "account.pem", "discovery.key"]
    )
    func misses(file: String) throws {
        let error = try errorOfLoading { remove("\($0)/\(file)") }
        #expect(error?.code == .noIdentity)
        #expect(error?.description.contains("handoff account create") == true)
        #expect(error?.description.contains(file) == true)
    }

    @Test(
        "A secret that others can read is refused, and the error says the chmod",
        arguments: ["key.pem", "discovery.key"]
    )
    func refusesOpenSecrets(file: String) throws {
        let error = try errorOfLoading { chmod("\($0)/\(file)", 0o640) }
        #expect(error?.code == .permissions)
        #expect(error?.description.contains("chmod 600") == true)
    }

    @Test("A directory that others can enter is refused, and the error says the chmod")
    func refusesOpenDirectory() throws {
        let error = try errorOfLoading { chmod($0, 0o755) }
        #expect(error?.code == .permissions)
        #expect(error?.description.contains("chmod 700") == true)
    }

    @Test("A link in the place of a secret is not followed")
    func refusesLinks() throws {
        let error = try errorOfLoading {
            rename("\($0)/key.pem", "\($0)/elsewhere.pem")
            symlink("elsewhere.pem", "\($0)/key.pem")
        }
        #expect(error?.code == .unreadable)
    }

    @Test(
        "A file with something else in it is malformed",
        arguments: ["key.pem", "certificate.pem", "account.pem", "discovery.key"]
    )
    func refusesMalformed(file: String) throws {
        #expect(try errorOfLoading { try writeFile("\($0)/\(file)", mode: 0o600, [0x41]) }?.code == .malformed)
        #expect(try errorOfLoading { try writeFile("\($0)/\(file)", mode: 0o600, []) }?.code == .malformed)
    }

    @Test("Another key than the certificate's is refused")
    func refusesOtherKey() throws {
        let error = try errorOfLoading { directory in
            try account.write(to: "\(directory)/other")
            rename("\(directory)/other/key.pem", "\(directory)/key.pem")
        }
        #expect(error?.code == .keyMismatch)
    }

    @Test("An encrypted key is refused without asking for its passphrase")
    func refusesEncryptedKey() throws {
        let error = try errorOfLoading { try writeFile("\($0)/key.pem", mode: 0o600, TestAccount.encryptedKey()) }
        #expect(error?.code == .malformed)
    }

    @Test(
        "A certificate that no peer would accept is refused here already",
        arguments: [
            (TestAccount.Kind.expired, IdentityError.Code.expired), (.notYetValid, .notYetValid),
            (.selfSigned, .notOfAccount), (.otherAccount, .notOfAccount), (.twoTeams, .malformed),
            (.noTeam, .malformed),
        ]
    )
    func refusesBadCertificates(kind: TestAccount.Kind, code: IdentityError.Code) throws {
        #expect(try errorOfLoading(kind)?.code == code)
    }
}
