import CommandLineKit
import FoundationEssentials
import Handoff

/// `handoff-bench crowd`: many peers of one account in one process, before whom another one is measured.
///
/// They are whole peers that listen and answer, but find nobody and so dial nobody: what they cost is not the question.
struct CrowdBenchmark {
    private static let type = "org.handoff.crowd.note"

    private let authority: AccountAuthority
    private let team: TeamID
    private let count: Int
    private let strangers: Int

    /// Reads the options.
    ///
    /// - Throws: `CommandFailure`, `IdentityError`.
    init(_ arguments: Arguments) throws {
        guard let directory = arguments["account"] else { throw CommandFailure.usage("--account is missing") }
        guard let team = arguments["team"].flatMap(TeamID.init) else {
            throw CommandFailure.usage("--team wants a team ID, 10 characters A-Z and 0-9")
        }
        self.team = team
        authority = try AccountAuthority(directory: directory)
        count = try arguments.number("peers", in: 1...1000) ?? 100
        strangers = try arguments.number("strangers", in: 0...10_000) ?? 0
    }

    /// Runs the peers until standard input ends.
    func run() async throws -> ExitCode {
        let input = await InputLines.open()
        let peers = try (0..<count).map(makePeer)
        for _ in 0..<strangers { try announceStranger() }
        try await withThrowingDiscardingTaskGroup { group in
            for peer in peers { group.addTask { try await peer.run() } }
            for peer in peers { _ = await peer.wait(atMost: .seconds(60)) { $0.port != nil } }
            try StandardOutput.write("ready\n")
            var offered: [Int: UserActivity] = [:]
            var changes = 0
            while let line = try await input.next() {
                guard let number = Int(line), peers.indices.contains(number) else {
                    throw CommandFailure("there is no peer “\(printable(line))”")
                }
                changes += 1
                if let activity = offered[number] {
                    activity.title = "Note \(changes)"
                } else {
                    let activity = try peers[number].makeActivity(
                        type: Self.type,
                        title: "Note \(changes)",
                        delegate: nil
                    )
                    await activity.becomeCurrent()
                    offered[number] = activity
                }
            }
            for peer in peers { await peer.stop() }
        }
        return .done
    }

    private func makePeer(_ number: Int) throws -> HandoffPeer {
        let machine = NewMachine()
        let now = Int64(Date().timeIntervalSince1970)
        let certificate = authority.issue(
            request: machine.certificateRequest(),
            team: team.description,
            machineID: UUID().uuidString.lowercased(),
            now: now
        )
        return try HandoffPeer(
            configuration: HandoffConfiguration(
                app: "org.handoff.crowd",
                name: "crowd",
                host: "\(hostName())-\(number)",
                types: [Self.type],
                ports: 0...0
            ),
            identity: machine.identity(
                account: authority.certificateDER,
                certificate: certificate ?? [],
                discoveryKey: authority.discoveryKey
            ),
            discovery: PrintingDiscovery(),
            application: nil
        )
    }

    /// Prints what a peer of some other account would announce.
    private func announceStranger() throws {
        var generator = SystemRandomNumberGenerator()
        let key = (0..<32).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
        let tags = DiscoveryTags(accountHash: key, team: team) { Crypto.hmacSHA256(key: $0, message: $1) }
        let record = tags.record(
            versions: HandoffConfiguration.versions,
            salt: .make(using: &generator),
            key: key
        )
        let name = InstanceName.make(using: &generator)
        try PrintingDiscovery.write(ServiceAnnouncement(instanceName: name, port: 9, text: record.strings))
    }
}

/// Prints what is to be announced, and finds nobody.
private final class PrintingDiscovery: Discovery {
    private struct Line: Encodable {
        let service: String
        let port: UInt16
        let txt: [String]
    }

    let events = DiscoveryEvents()

    func run() async throws {
        events.post(.settled)
        while !Task.isCancelled { try? await Task.sleep(for: .seconds(3600)) }
        events.finish()
    }

    func announce(
        _ announcement: ServiceAnnouncement,
        onCollision: @escaping @Sendable (ServiceAnnouncement) -> ServiceAnnouncement
    ) throws(DiscoveryError) {
        do {
            try Self.write(announcement)
        } catch {
            throw DiscoveryError(.failed, "\(error)")
        }
    }

    static func write(_ announcement: ServiceAnnouncement) throws {
        let line = Line(
            service: announcement.instanceName,
            port: announcement.port,
            txt: announcement.text.map { String(decoding: $0, as: UTF8.self) }
        )
        try StandardOutput.write(String(decoding: JSONEncoder().encode(line), as: UTF8.self) + "\n")
    }

    func withdraw() {}

    func resolve(_ instanceName: String, within limit: Duration) async throws -> DiscoveredService {
        throw DiscoveryError(.timedOut, "nobody is ever found here")
    }
}
