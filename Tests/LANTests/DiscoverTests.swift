import Foundation
import Testing

/// Everything that needs hosts: one after the other, since they share this machine's cores and watch time limits.
@Suite("On the network", .serialized, .timeLimit(.minutes(10)))
enum NetworkTests {}

extension NetworkTests {
    @Suite("handoff discover, alone on the network")
    struct DiscoverAloneTests {
        @Test("finds nobody, and says what to check")
        func nobody() async throws {
            try await Lab.with(hosts: 1) { lab in
                try await lab.enrol("a")
                let table = try await lab.run("a", "handoff", "discover")
                #expect(table.status == 0)
                #expect(table.output.isEmpty)
                #expect(table.errors.hasPrefix("no peers found: "))
                let document = try await lab.run("a", "handoff", "discover", "--json")
                #expect(document.status == 0)
                #expect(document.output == "{\"peers\":[]}\n")
                #expect(document.errors.isEmpty)
            }
        }

        @Test("says which daemon is missing")
        func daemons() async throws {
            try await Lab.with(hosts: 1) { lab in
                try await lab.enrol("a")
                try await lab.control("daemon", "a", "avahi", "stop")
                let withoutAvahi = try await lab.run("a", "handoff", "discover", "--json")
                #expect(withoutAvahi.status == 1)
                #expect(withoutAvahi.output.isEmpty)
                #expect(withoutAvahi.errors.contains("avahi-daemon is not running"))
                #expect(withoutAvahi.errors.split(separator: "\n").count == 1)
                try await lab.control("daemon", "a", "dbus", "kill")
                let withoutBus = try await lab.run("a", "handoff", "discover", "--json")
                #expect(withoutBus.status == 1)
                #expect(withoutBus.output.isEmpty)
                #expect(withoutBus.errors.contains("message bus cannot be reached"))
                #expect(withoutBus.errors.split(separator: "\n").count == 1)
            }
        }

        @Test("refuses an identity that is missing, or that others could read, and says what to do")
        func identities() async throws {
            try await Lab.with(hosts: 1) { lab in
                let missing = try await lab.run("a", "handoff", "discover")
                #expect(missing.status == 1)
                #expect(missing.errors.contains("this machine has no identity"))
                #expect(missing.errors.contains("handoff account create"))
                try await lab.enrol("a")
                let key = lab.identity(of: "a") + "/key.pem"
                try FileManager.default.setAttributes([.posixPermissions: 0o640], ofItemAtPath: key)
                let open = try await lab.run("a", "handoff", "discover")
                #expect(open.status == 1)
                #expect(open.errors.contains("chmod 600 '\(key)'"))
            }
        }

        @Test("does not look for no time, nor for ever")
        func timeouts() async throws {
            try await Lab.with(hosts: 1) { lab in
                for timeout in ["0", "-1", "nan", "inf", "601", "soon"] {
                    let outcome = try await lab.run("a", "handoff", "discover", "--timeout=\(timeout)")
                    #expect(outcome.status == 2)
                    #expect(outcome.errors.contains("--timeout"))
                }
            }
        }
    }
}
