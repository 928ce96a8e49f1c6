import CommandLineKit
import FoundationEssentials
import Handoff

/// `handoff discover`: asks a peer that runs here, or looks around as a visitor, and shows what was seen.
struct Discover {
    private static let standardTimeout = Duration.seconds(1.5)
    private static let longestTimeout = 600
    /// How often what is watched is looked at where nothing happens: what it says of ages and the screen's size changes.
    private static let longestPause = Duration.seconds(1)
    /// Changes that come together are shown together.
    private static let shortestPause = Duration.milliseconds(200)

    private let isJSON: Bool
    private let watches: Bool
    private let isExplained: Bool
    private let filter: PeerFilter
    private let places: [NetworkPlace]
    private let timeout: Duration
    /// False where more is wanted than a peer that runs here can tell, or something newer.
    private let mayAsk: Bool
    private let log: Log
    private let environment = ProcessInfo.processInfo.environment

    init(_ arguments: Arguments) throws(CommandFailure) {
        isJSON = arguments.has("json")
        watches = arguments.has("watch")
        isExplained = arguments.has("explain")
        filter = PeerFilter(arguments)
        places = try arguments.values("peer").map { text throws(CommandFailure) in
            try namedPlace(text, port: HandoffConfiguration.defaultPorts.lowerBound)
        }
        guard places.count <= HandoffConfiguration.maximumPlaces else {
            throw .usage("--peer can be given \(HandoffConfiguration.maximumPlaces) times at most")
        }
        timeout = try arguments["timeout"].map(Self.duration) ?? Self.standardTimeout
        mayAsk = !watches && !isExplained && places.isEmpty && arguments["timeout"] == nil
        // Warnings come as the command's failure, if they matter.
        log = Log.lines(from: arguments.has("verbose") ? .debug : .error) {
            StandardError.write("handoff: \(printable($0))\n")
        }
    }

    func run() async throws -> ExitCode {
        warnOfEnd()
        let paths = try HandoffPaths(environment: environment)
        let identity = try Identity.load(directory: paths.configuration + "/identity")
        let running = LocalPeers(runtimeDirectory: paths.runtime)
        if mayAsk, let statuses = await running.statuses(for: identity) {
            var choice = NearestChoice()
            try show(listing(statuses, &choice, radios: nil))
            return .done
        }
        let peer = try visitor(identity, paths)
        try await peer.whileRunning {
            try await peer.lookAround(atMost: timeout)
            if let problem = await peer.discoveryProblem {
                StandardError.write("handoff: only known addresses are tried: \(printable(problem.message))\n")
            }
            if watches { return try await watch(peer) }
            var choice = NearestChoice()
            try show(await listing(peer, &choice))
        }
        return .done
    }

    /// Says that this machine's certificate ends soon.
    private func warnOfEnd() {
        let machine = try? AccountVerbs.store().summary().machines.first
        guard let machine, machine.isEnding(at: Date()) else { return }
        let end = machine.notAfter.ISO8601Format()
        StandardError.write("handoff: this machine's certificate ends on \(end): \(MachineSummary.renewalAdvice)\n")
    }

    private func visitor(_ identity: Identity, _ paths: HandoffPaths) throws -> HandoffPeer {
        try HandoffPeer(
            configuration: HandoffConfiguration(
                app: "org.handoff.discover",
                name: "handoff discover",
                host: hostName(),
                types: [],
                places: places,
                isVisitor: true
            ),
            identity: identity,
            discovery: AvahiDiscovery(type: HandoffConfiguration.serviceType, log: log),
            application: nil,
            knownPeers: KnownPeersFile(directory: paths.state, identity: identity),
            radio: isExplained ? BlueZRadio(log: log) : nil,
            wifi: isExplained ? WiFiRadio() : nil,
            log: log
        )
    }

    private func listing(_ peer: HandoffPeer, _ choice: inout NearestChoice) async -> PeerListing {
        let radios = isExplained ? Radios(await peer.radioState, await peer.wifiReading) : nil
        return listing(await peer.peers(), &choice, radios: radios)
    }

    private func listing(_ statuses: [PeerStatus], _ choice: inout NearestChoice, radios: Radios?) -> PeerListing {
        PeerListing(statuses.filter(filter.allows), &choice, at: MonotonicClock.system.now, radios: radios)
    }

    private func show(_ listing: PeerListing) throws {
        if isJSON {
            try StandardOutput.writeJSON(listing)
        } else if listing.peers.isEmpty {
            StandardError.write(
                "no peers found: check that one runs (notes run), that both machines are on the same network, and that "
                    + "no firewall drops mDNS (UDP port 5353)\n"
            )
        } else {
            try write(listing, on: Terminal.standardOutput(environment: environment))
        }
    }

    private func write(_ listing: PeerListing, on terminal: Terminal) throws {
        let lines = listing.lines(width: terminal.width)
        try StandardOutput.write(lines.map { $0.rendered(isStyled: terminal.isStyled) + "\n" }.joined())
    }

    // MARK: - Watching

    /// Shows the peers again each time something has changed, until a signal ends it.
    private func watch(_ peer: HandoffPeer) async throws {
        let signals = await SignalStream.open()
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { for await _ in signals { break } }
            group.addTask { try await follow(peer) }
            defer { group.cancelAll() }
            try await group.next()
        }
    }

    private func follow(_ peer: HandoffPeer) async throws {
        var (choice, events, screen) = (NearestChoice(), PeerEvents(), LiveText())
        while !Task.isCancelled {
            let seen = await peer.revision
            let listing = await listing(peer, &choice)
            let news = events.next(listing)
            let terminal = Terminal.standardOutput(environment: environment)
            if isJSON {
                for event in news { try StandardOutput.writeJSON(event) }
            } else if terminal.isTerminal, environment["TERM"] != "dumb" {
                let problem = await peer.discoveryProblem.map { [StyledLine(printable($0.message), style: .bad)] } ?? []
                try StandardOutput.write(screen.frame(listing.lines(width: terminal.width) + problem, on: terminal))
            } else if !news.isEmpty {
                try write(listing, on: terminal)
                try StandardOutput.write("\n")
            }
            _ = await peer.wait(atMost: Self.longestPause) { $0.revision != seen }
            try await MonotonicClock.system.sleep(for: Self.shortestPause)
        }
    }

    private static func duration(_ text: String) throws(CommandFailure) -> Duration {
        guard let seconds = Double(text), seconds > 0, seconds <= Double(longestTimeout) else {
            throw .usage("--timeout is a number of seconds up to \(longestTimeout), and not “\(printable(text))”")
        }
        return .seconds(seconds)
    }
}
