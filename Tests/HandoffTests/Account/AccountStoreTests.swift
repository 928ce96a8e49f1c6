import Foundation
import HandoffSupport
import HandoffTestKit
import Testing

@testable import Handoff
@testable import HandoffTransport

@Suite("The account of a machine")
actor AccountStoreTests {
    nonisolated var unownedExecutor: UnownedSerialExecutor { blockingTests.asUnownedSerialExecutor() }

    @Test("is made with the machine's identity, and shown without secrets")
    func create() throws {
        try withTemporaryDirectory { home in
            let store = AccountStore(configuration: "\(home)/config")
            let made = try store.create(name: "Ada")
            #expect(made.name == "Ada")
            #expect(made.holdsKey)
            #expect(made.machines.map(\.team) == [AccountStore.standardTeam])
            #expect(try store.summary() == made)
            let identity = try Identity.load(directory: store.identityDirectory)
            #expect(BaseEncoding.hexadecimal(identity.accountHash) == made.hash)
            #expect(throws: AccountError.self) { try store.create(name: "Ada") }
            #expect(try store.summary() == made)
        }
    }

    @Test("has one certificate a team for one machine id")
    func teams() throws {
        try withTemporaryDirectory { home in
            let store = AccountStore(configuration: home)
            let made = try store.create(name: "Ada", teams: ["ZZZZZZZZZ9", "A1B2C3D4E5"])
            #expect(made.machines.map(\.team) == ["ZZZZZZZZZ9", "A1B2C3D4E5"])
            #expect(Set(made.machines.map(\.machineID)).count == 1)
            #expect(made.machines.map(\.directory) == ["\(home)/identity", "\(home)/identity-A1B2C3D4E5"])
            for machine in made.machines { _ = try Identity.load(directory: machine.directory) }
        }
    }

    @Test("is not made with a name or a team that is none", arguments: ["", "a\nb", String(repeating: "x", count: 65)])
    func names(_ name: String) throws {
        try withTemporaryDirectory { home in
            let store = AccountStore(configuration: home)
            #expect(throws: AccountError.self) { try store.create(name: name) }
            for teams in [[], ["short"], ["a1b2c3d4e5"], ["A1B2C3D4E5", "A1B2C3D4E5"]] {
                #expect(throws: AccountError.self) { try store.create(name: "Ada", teams: teams) }
            }
            let names = try Directory.names(in: home)
            #expect(names.isEmpty)
        }
    }

    @Test("made by the scripts is used as it is")
    func scripts() throws {
        try withTemporaryDirectory { home in
            let repository = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
                .deletingLastPathComponent().deletingLastPathComponent().path
            let process = Process()
            process.executableURL = URL(fileURLWithPath: "\(repository)/certs/make-account")
            process.arguments = ["\(home)/account", "Ada"]
            process.standardError = Pipe()
            try process.run()
            process.waitUntilExit()
            let store = AccountStore(configuration: home)
            #expect(try store.summary().machines.isEmpty)
            let made = try store.create(name: "ignored")
            #expect(made.name == "Ada")
            _ = try Identity.load(directory: store.identityDirectory)
        }
    }

    @Test("is closed to other users, whatever the mask of the process")
    func modes() throws {
        try withTemporaryDirectory { home in
            let store = AccountStore(configuration: "\(home)/config")
            _ = try store.create(name: "Ada")
            func mode(_ path: String) throws -> Int {
                try #require(FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int)
            }
            for directory in [store.accountDirectory, store.identityDirectory] {
                #expect(try mode(directory) == 0o700)
                for name in try Directory.names(in: directory) {
                    #expect(
                        try mode("\(directory)/\(name)")
                            == (name.hasSuffix(".key") || name == "key.pem" ? 0o600 : 0o644)
                    )
                }
            }
            let names = try Directory.names(in: store.configuration)
            #expect(names.sorted() == ["account", "identity"])
        }
    }

    @Test("is missing where there is none, and says what to do")
    func missing() throws {
        try withTemporaryDirectory { home in
            let store = AccountStore(configuration: "\(home)/nothing")
            #expect(throws: AccountError.noAccount) { try store.summary() }
        }
    }
}

@Suite("A directory of secrets")
struct PrivateDirectoryTests {
    private let old = [
        PrivateFile(name: "key", isSecret: true, bytes: [1]), PrivateFile(name: "a", isSecret: false, bytes: [1]),
    ]
    private let new = [
        PrivateFile(name: "key", isSecret: true, bytes: [2]), PrivateFile(name: "b", isSecret: false, bytes: [2]),
    ]

    private func content(_ path: String) throws -> [String: [UInt8]] {
        let names = try Directory.names(in: path)
        return try Dictionary(
            uniqueKeysWithValues: names.map { ($0, Array(try Data(contentsOf: URL(fileURLWithPath: "\(path)/\($0)")))) }
        )
    }

    @Test("is replaced as a whole")
    func replaced() throws {
        try withTemporaryDirectory { home in
            let path = "\(home)/deep/identity"
            try Directory.write(path, holding: old)
            #expect(throws: SystemError.taken(path)) { try Directory.write(path, holding: new) }
            #expect(try content(path) == ["key": [1], "a": [1]])
            try Directory.write(path, holding: new, replaces: true)
            #expect(try content(path) == ["key": [2], "b": [2]])
            let names = try Directory.names(in: "\(home)/deep")
            #expect(names == ["identity"])
        }
    }

    @Test("is the old one or the new one, whenever the process was killed while it was replaced")
    func crashes() throws {
        try withTemporaryDirectory { home in
            let path = "\(home)/identity"
            try Directory.write(path, holding: old)
            // Between the two renames.
            try Directory.rename(path, to: path + ".previous")
            try Directory.recover(path)
            #expect(try content(path) == ["key": [1], "a": [1]])
            // After both, before the old one was removed.
            try Directory.write(path + ".previous", holding: old)
            try Directory.recover(path)
            #expect(try content(path) == ["key": [1], "a": [1]])
            let names = try Directory.names(in: home)
            #expect(names == ["identity"])
        }
    }

    @Test("is left as it was where a file cannot be written")
    func failing() throws {
        try withTemporaryDirectory { home in
            let path = "\(home)/identity"
            try Directory.write(path, holding: old)
            let twice = new + [new[0]]
            #expect(throws: SystemError.self) { try Directory.write(path, holding: twice, replaces: true) }
            #expect(try content(path) == ["key": [1], "a": [1]])
            let names = try Directory.names(in: home)
            #expect(names == ["identity"])
        }
    }
}
