import CommandLineKit
import FoundationEssentials
import Handoff
import NotesKit

extension NotesProgram {
    /// `notes run`: the peer, in the foreground.
    static let runVerb = Verb(
        "run",
        "Be a peer: offer the note that is open here, and let others be continued here",
        discussion: """
            Runs in the foreground until SIGINT or SIGTERM. It announces itself on the local network, links to the peers \
            of your account and team, and serves the other commands on this machine. One line on standard output says \
            when it is ready, and one more each time that another machine sends a note here. \
            notes.json in the configuration directory may say from whom: {"accept": "any"}, {"accept": "never"}, or \
            {"accept": ["kitchen"]} with the names of hosts or the ids of machines; and where to look for peers besides: \
            {"peers": ["office.example.org", "10.0.0.7:24281"]}. Machines that were paired once are looked for at their \
            last addresses. {"radio": true} lets Bluetooth, and Wi-Fi where this machine is an access point, say which \
            peer is the nearest.
            """,
        options: [
            .value("port", short: "p", "PORT", "Listen on this TCP port, not on the first free of 24280 to 24289"),
            peerOption,
            .flag("verbose", short: "v", "Log what happens, and not only what goes wrong"),
        ],
        examples: [
            Example("notes run", "Take part in handoff until Ctrl-C"),
            Example("notes run --port 24300", "Listen on a port that the firewall lets through"),
        ]
    ) { arguments in
        // Before anything is announced: from here on, a signal ends the peer cleanly.
        let signals = await SignalStream.open()
        let files = try NotesFiles()
        let ports = try arguments["port"].map { try port($0) } ?? HandoffConfiguration.defaultPorts
        let store = try await openStore()
        let (identity, configuration) = (try files.identity(), try files.configuration())
        let service = try NotesService(
            store: store,
            identity: identity,
            discovery: try AvahiDiscovery(type: HandoffConfiguration.serviceType, log: log(arguments)),
            host: hostName(),
            ports: ports,
            preferredPort: try await store.setting(portSetting).flatMap { UInt16($0) },
            sendPolicy: configuration.accept,
            places: places(arguments) + configuration.peers,
            knownPeers: files.knownPeers(identity),
            localPeers: files.localPeers,
            radio: configuration.radio ? BlueZRadio(log: log(arguments)) : nil,
            wifi: configuration.radio ? WiFiRadio() : nil,
            log: log(arguments),
            received: { report in
                // Nobody may be reading any more, which is no reason to stop.
                try? StandardOutput.write("received: \(sentence(report)) (\(report.note))\n")
            }
        )
        let socket = try files.socket()
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await service.run(socket: socket) }
            group.addTask {
                for await _ in signals { break }
                await service.stop()
            }
            group.addTask { try await announceReady(service, store) }
            defer { group.cancelAll() }
            // The first to return is announceReady; then the peer itself, by its end or an error.
            while let result = await group.nextResult() {
                try result.get()
                if await service.hasStopped { return }
            }
        }
        return .done
    }

    private static func port(_ text: String) throws -> ClosedRange<UInt16> {
        guard let port = UInt16(text), port > 0 else {
            throw CommandFailure.usage("“\(printable(text))” is not a port: name one from 1 to 65535")
        }
        return port...port
    }

    /// The setting that keeps the port from one run to the next.
    private static let portSetting = "port"

    private static func announceReady(_ service: NotesService, _ store: NotesStore) async throws {
        let peer = try await service.peer()
        guard await peer.wait(atMost: .seconds(60), until: { $0.port != nil }), let port = await peer.port else {
            return
        }
        try await store.setSetting(portSetting, to: "\(port)")
        try StandardOutput.write("notes is running as \(peer.id), on port \(port)\n")
    }
}

/// A log on stderr: warnings and errors, with `--verbose` everything.
func log(_ arguments: Arguments) -> Log {
    Log.lines(from: arguments.has("verbose") ? .debug : .warning) { StandardError.write("notes: \(printable($0))\n") }
}
