import CommandLineKit
import FoundationEssentials
import Handoff

/// `handoff discover`: looks around as a visitor, and shows what it saw.
struct Discover {
    private static let standardTimeout = Duration.seconds(3)
    private static let longestTimeout = 600

    private let isJSON: Bool
    private let timeout: Duration
    private let log: Log

    init(_ arguments: Arguments) throws(CommandFailure) {
        isJSON = arguments.has("json")
        timeout = try arguments["timeout"].map(Self.duration) ?? Self.standardTimeout
        // Warnings come as the command's failure, if they matter.
        log = Log.lines(from: arguments.has("verbose") ? .debug : .error) {
            StandardError.write("handoff: \(printable($0))\n")
        }
    }

    func run() async throws -> ExitCode {
        let environment = ProcessInfo.processInfo.environment
        if let machine = try? AccountVerbs.store().summary().machines.first, machine.isEnding(at: Date()) {
            let end = machine.notAfter.ISO8601Format()
            StandardError.write("this machine's certificate ends on \(end): \(MachineSummary.renewalAdvice)\n")
        }
        let listing = PeerListing(try await look(identityIn: HandoffPaths(environment: environment)))
        if isJSON {
            try StandardOutput.writeJSON(listing)
        } else if listing.peers.isEmpty {
            StandardError.write(
                "no peers found: check that one runs (notes run), that both machines are on the same network, and that "
                    + "no firewall drops mDNS (UDP port 5353)\n"
            )
        } else {
            try StandardOutput.write(listing.table(width: Terminal.standardOutput(environment: environment).width))
        }
        return .done
    }

    private func look(identityIn paths: HandoffPaths) async throws -> [PeerStatus] {
        let peer = try HandoffPeer(
            configuration: HandoffConfiguration(
                app: "org.handoff.discover",
                name: "handoff discover",
                host: hostName(),
                types: [],
                isVisitor: true
            ),
            identity: Identity.load(directory: paths.configuration + "/identity"),
            discovery: AvahiDiscovery(type: HandoffConfiguration.serviceType, log: log),
            application: nil,
            log: log
        )
        return try await peer.whileRunning {
            try await peer.lookAround(atMost: timeout)
            return await peer.peers()
        }
    }

    private static func duration(_ text: String) throws(CommandFailure) -> Duration {
        guard let seconds = Double(text), seconds > 0, seconds <= Double(longestTimeout) else {
            throw .usage("--timeout is a number of seconds up to \(longestTimeout), and not “\(printable(text))”")
        }
        return .seconds(seconds)
    }
}
