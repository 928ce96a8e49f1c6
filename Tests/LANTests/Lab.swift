import Foundation
import HandoffSupport

/// A network of hosts on this machine (docs/testing.md, "The lab"), and the real commands on them.
struct Lab: Sendable {
    /// The repository's directory.
    static let repository = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent().path
    /// Where the commands are built: beside the program that runs the tests.
    static let products = URL(fileURLWithPath: "/proc/self/exe")
        .resolvingSymlinksInPath().deletingLastPathComponent().path
    /// Whether the tests that take minutes run (`make test-long`); the names of their functions begin with `long`.
    static let runsLong = ProcessInfo.processInfo.environment["HANDOFF_LONG_TESTS"] == "1"
    private static let count = LockedBox(0)

    /// The lab's directory; short, since sockets lie in it.
    let directory: String

    /// Makes a lab, runs a test in it and takes it down, whatever came of the test.
    ///
    /// It ends with this process, too.
    static func with(hosts: Int, _ test: (Lab) async throws -> Void) async throws {
        let number = count.withLock { count in
            count += 1
            return count
        }
        let parent = FileManager.default.temporaryDirectory.path
        let lab = Lab(directory: "\(parent)/lab-\(ProcessInfo.processInfo.processIdentifier)-\(number)")
        try await lab.control("up", "\(hosts)", "--owner", "\(ProcessInfo.processInfo.processIdentifier)")
        let outcome: Result<Void, any Error>
        do {
            outcome = .success(try await test(lab))
        } catch {
            outcome = .failure(error)
        }
        try await lab.control("down")
        try outcome.get()
    }

    /// Tells the lab to do something, a fault for example: `control("cut", "a")`.
    func control(_ arguments: String...) async throws {
        try await tool(["Tests/lan/lab"] + arguments)
    }

    /// Makes an identity for a host, of an account that is made with its first machine.
    func enrol(
        _ host: String,
        account: String = "ada",
        team: String = "A1B2C3D4E5",
        options: [String] = []
    ) async throws {
        let accountDirectory = "\(directory)/account-\(account)"
        if !FileManager.default.fileExists(atPath: accountDirectory) {
            try await tool(["certs/make-account", accountDirectory])
        }
        try await tool(["certs/make-peer"] + options + [accountDirectory, identity(of: host), team])
    }

    /// The directory of a host's identity.
    func identity(of host: String) -> String { "\(directory)/\(host)/handoff/config/identity" }

    /// Starts one of our commands on a host.
    func start(_ host: String, _ command: String, _ arguments: String...) throws -> RunningCommand {
        try start(host, [command] + arguments)
    }

    /// Starts one of our commands on a host, to be typed to.
    func converse(_ host: String, _ command: String, _ arguments: String...) throws -> RunningCommand {
        try start(host, [command] + arguments, isTypedTo: true)
    }

    /// Starts one of our commands on a host, to be typed to.
    func converse(_ host: String, _ command: [String]) throws -> RunningCommand {
        try start(host, command, isTypedTo: true)
    }

    /// Runs one of our commands on a host to its end.
    func run(_ host: String, _ command: String, _ arguments: String...) async throws -> Outcome {
        try await start(host, [command] + arguments).outcome()
    }

    /// Runs one of our commands on a host to its end.
    func run(_ host: String, _ command: String, _ arguments: [String]) async throws -> Outcome {
        try await start(host, [command] + arguments).outcome()
    }

    /// What `handoff discover` sees from a host.
    func peers(from host: String) async throws -> [Peer] {
        let outcome = try await run(host, "handoff", "discover", "--json", "--all", "--timeout=3")
        guard outcome.status == 0 else { throw CommandProblem(description: "discover on \(host): \(outcome)") }
        return try JSONDecoder().decode(Peers.self, from: Data(outcome.output.utf8)).peers
    }

    /// Looks from a host, again and again, until it sees what is waited for; one look takes a second or so.
    func peers(
        from host: String,
        within limit: Duration = .seconds(20),
        until isExpected: @Sendable ([Peer]) -> Bool
    ) async throws -> [Peer] {
        let deadline = MonotonicClock.system.now + limit
        while true {
            let peers = try await peers(from: host)
            if isExpected(peers) { return peers }
            guard MonotonicClock.system.now < deadline else {
                throw CommandProblem(description: "\(host) does not see what is expected, but \(peers)")
            }
        }
    }

    /// Waits until a host sees that so many activities of a type are offered.
    func awaitOffers(of type: String, count: Int = 1, from host: String) async throws {
        _ = try await peers(from: host) { peers in peers.filter { $0.offer?.type == type }.count == count }
    }

    private func start(_ host: String, _ command: [String], isTypedTo: Bool = false) throws -> RunningCommand {
        let program = "\(Self.products)/\(command[0])"
        guard FileManager.default.isExecutableFile(atPath: program) else {
            throw CommandProblem(description: "\(program) is not there; run: swift build --build-tests")
        }
        return try launch(["Tests/lan/lab", "exec", host, program] + command.dropFirst(), isTypedTo: isTypedTo)
    }

    private func tool(_ command: [String]) async throws {
        let outcome = try await launch(command).outcome(within: .seconds(90))
        guard outcome.status == 0 else {
            throw CommandProblem(description: "\(command.joined(separator: " ")): \(outcome)")
        }
    }

    func launch(_ command: [String], isTypedTo: Bool = false) throws -> RunningCommand {
        let environment = ProcessInfo.processInfo.environment.merging(["HANDOFF_LAB": directory]) { $1 }
        return try RunningCommand(command, environment: environment, directory: Self.repository, isTypedTo: isTypedTo)
    }
}

/// The document that `handoff discover --json` prints.
struct Peers: Decodable {
    let peers: [Peer]
}

/// One peer of `handoff discover --json`.
struct Peer: Decodable, Sendable {
    private enum CodingKeys: String, CodingKey {
        case id, name, app, host, addresses, port, account, team, pairing, reason, offer
        case roundTripMilliseconds = "rtt_ms"
    }

    struct Offer: Decodable, Sendable {
        let type: String
        let title: String
    }

    let id: String?
    let name: String?
    let app: String?
    let host: String?
    let addresses: [String]
    let port: Int?
    let account: String
    let team: String
    let pairing: String
    let reason: String?
    let offer: Offer?
    let roundTripMilliseconds: Double?
}
