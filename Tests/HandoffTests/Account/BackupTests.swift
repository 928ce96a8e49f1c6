import Foundation
import Glibc
import HandoffSupport
import HandoffTestKit
import Testing

@testable import Handoff
@testable import HandoffTransport

@Suite("The backup of an account")
actor BackupTests {
    nonisolated var unownedExecutor: UnownedSerialExecutor { blockingTests.asUnownedSerialExecutor() }

    private static let passphrase = "correct horse"

    @Test("brings the account back elsewhere, with the same key and the same discovery key")
    func restored() throws {
        try withTemporaryDirectory { home in
            let (here, there) = (AccountStore(configuration: "\(home)/a"), AccountStore(configuration: "\(home)/b"))
            let made = try here.create(name: "Ada")
            let file = "\(home)/backup.pem"
            try here.backup(to: file, passphrase: Self.passphrase)
            #expect(throws: AccountError(.wrongPassphrase, "")) {
                try there.restore(from: file, passphrase: "wrong horse")
            }
            #expect(throws: AccountError.noAccount) { try there.summary() }
            let restored = try there.restore(from: file, passphrase: Self.passphrase)
            #expect(
                restored.hash == made.hash && restored.name == "Ada" && restored.holdsKey && restored.machines.isEmpty
            )
            let stores = try [here, there].map { try AccountAuthority(directory: $0.accountDirectory) }
            #expect(stores[0].discoveryKey == stores[1].discoveryKey)
            #expect(try there.create(name: "ignored").hash == made.hash)
            _ = try Identity.load(directory: there.identityDirectory)
        }
    }

    @Test("is read by OpenSSL itself, and holds no secret in the open")
    func openSSL() throws {
        try withTemporaryDirectory { home in
            let store = AccountStore(configuration: home)
            _ = try store.create(name: "Ada")
            let file = "\(home)/backup.pem"
            try store.backup(to: file, passphrase: Self.passphrase)
            let text = try String(contentsOfFile: file, encoding: .utf8)
            #expect(text.components(separatedBy: "BEGIN ENCRYPTED PRIVATE KEY").count == 3)
            #expect(!text.contains("BEGIN PRIVATE"))
            let process = Process()
            process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
            process.arguments = ["openssl", "pkey", "-in", file, "-passin", "stdin"]
            let (input, output) = (Pipe(), Pipe())
            process.standardInput = input
            process.standardOutput = output
            try process.run()
            input.fileHandleForWriting.write(Data("\(Self.passphrase)\n".utf8))
            input.fileHandleForWriting.closeFile()
            let key = try output.fileHandleForReading.readToEnd() ?? Data()
            process.waitUntilExit()
            #expect(try key == Data(contentsOf: URL(fileURLWithPath: "\(store.accountDirectory)/account.key")))
        }
    }

    @Test("replaces no file, follows no link, and is closed to others")
    func files() throws {
        try withTemporaryDirectory { home in
            let store = AccountStore(configuration: home)
            _ = try store.create(name: "Ada")
            let file = "\(home)/backup.pem"
            symlink("\(home)/elsewhere", file)
            #expect(throws: AccountError.self) { try store.backup(to: file, passphrase: Self.passphrase) }
            #expect(access("\(home)/elsewhere", F_OK) != 0)
            unlink(file)
            #expect(throws: AccountError.self) { try store.backup(to: file, passphrase: "short") }
            try store.backup(to: file, passphrase: Self.passphrase)
            #expect(throws: AccountError.self) { try store.backup(to: file, passphrase: Self.passphrase) }
            let attributes = try FileManager.default.attributesOfItem(atPath: file)
            #expect(attributes[.posixPermissions] as? Int == 0o600)
        }
    }

    @Test("is refused where it is damaged, where an account is, or where the machine is of another account")
    func refused() throws {
        try withTemporaryDirectory { home in
            let stores = ["a", "b", "c"].map { AccountStore(configuration: "\(home)/\($0)") }
            _ = try stores[0].create(name: "Ada")
            let file = "\(home)/backup.pem"
            try stores[0].backup(to: file, passphrase: Self.passphrase)
            #expect(throws: AccountError(.exists, "")) {
                try stores[0].restore(from: file, passphrase: Self.passphrase)
            }
            _ = try stores[1].create(name: "Bob")
            try Directory.removeFlat(stores[1].accountDirectory)
            #expect(throws: AccountError(.exists, "")) {
                try stores[1].restore(from: file, passphrase: Self.passphrase)
            }
            for text in [
                "", "hello", try String(contentsOfFile: file, encoding: .utf8).replacing("CERT", with: "XERT"),
            ] {
                let damaged = "\(home)/damaged.pem"
                try text.write(toFile: damaged, atomically: true, encoding: .utf8)
                #expect(throws: IdentityError.self) {
                    try stores[2].restore(from: damaged, passphrase: Self.passphrase)
                }
            }
            #expect(throws: AccountError.self) {
                try stores[2].restore(from: "\(home)/none", passphrase: Self.passphrase)
            }
        }
    }

    @Test("is asked for before the account's key is given up")
    func leave() throws {
        try withTemporaryDirectory { home in
            let store = AccountStore(configuration: home)
            #expect(throws: AccountError.noAccount) { try store.leave(givesUpKey: true) }
            let made = try store.create(name: "Ada", teams: ["ZZZZZZZZZ9", "A1B2C3D4E5"])
            #expect(throws: AccountError(.noKey, "")) { try store.leave(givesUpKey: false) }
            #expect(try store.summary() == made)
            #expect(try store.leave(givesUpKey: true) == made.machines)
            let names = try Directory.names(in: home)
            #expect(names.isEmpty)
        }
    }
}
