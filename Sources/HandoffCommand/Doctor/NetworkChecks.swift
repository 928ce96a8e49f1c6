import CommandLineKit
import Handoff

/// What can be said after asking the daemons and the other machines.
struct NetworkChecks {
    /// How long is looked around, as `handoff discover` does.
    private static let lookLimit = Duration.seconds(4)
    /// How long a daemon has to answer; Avahi's first look around takes a second.
    private static let daemonLimit = Duration.seconds(5)

    /// The message bus and avahi-daemon.
    func daemons() async -> [Finding] {
        let outcome = await availability()
        switch outcome {
        case nil:
            return [.ok("bus", "D-Bus answers"), .ok("avahi", "avahi-daemon answers")]
        case let error? where error.code == .noBus:
            return [
                .error("bus", "the system's message bus cannot be reached", do: "sudo systemctl start dbus"),
                .error("avahi", "cannot be asked without the bus", do: nil),
            ]
        case let error? where error.code == .noDaemon:
            return [
                .ok("bus", "D-Bus answers"),
                .error("avahi", "avahi-daemon is not running", do: "sudo systemctl enable --now avahi-daemon"),
            ]
        case let error?:
            return [.error("avahi", error.message, do: "sudo systemctl restart avahi-daemon")]
        }
    }

    private func availability() async -> DiscoveryError? {
        do {
            let discovery = try AvahiDiscovery(type: HandoffConfiguration.serviceType)
            return try await withThrowingTaskGroup(of: DiscoveryError?.self) { group in
                defer { group.cancelAll() }
                group.addTask {
                    try await discovery.run()
                    return nil
                }
                group.addTask {
                    while let event = try await discovery.events.next() {
                        switch event {
                        case .available, .found, .settled: return nil
                        case .unavailable(let error): return error
                        default: continue
                        }
                    }
                    return nil
                }
                group.addTask {
                    try await MonotonicClock.system.sleep(for: Self.daemonLimit)
                    return DiscoveryError(.timedOut, "avahi-daemon does not answer")
                }
                return try await group.next() ?? nil
            }
        } catch let error as DiscoveryError {
            return error
        } catch {
            return nil
        }
    }

    /// The peers on the network, and this machine's own among them.
    ///
    /// - Parameter identity: Who looks around; nothing can be asked without one.
    func peers(identity: Identity) async -> [Finding] {
        let statuses: [PeerStatus]
        do {
            let peer = try HandoffPeer(
                configuration: HandoffConfiguration(
                    app: "org.handoff.doctor",
                    name: "handoff doctor",
                    host: hostName(),
                    types: [],
                    isVisitor: true
                ),
                identity: identity,
                discovery: AvahiDiscovery(type: HandoffConfiguration.serviceType),
                application: nil
            )
            statuses = try await peer.whileRunning {
                try await peer.lookAround(atMost: Self.lookLimit)
                return await peer.peers()
            }
        } catch {
            return [.error("peers", "cannot look around: \(error)", do: nil)]
        }
        let (own, others) = (statuses.filter(Self.isOwn), statuses.filter { !Self.isOwn($0) })
        return [announcement(own)] + others.map(Self.finding(for:))
            + (others.isEmpty ? [Self.nobody] : [])
    }

    private static let nobody = Finding.warning(
        "peers",
        "no other machine's peer was seen",
        do: "start one there (notes run), and let UDP port 5353 and TCP ports 24280 to 24294 through both firewalls"
    )

    private static func isOwn(_ status: PeerStatus) -> Bool {
        status.addresses.contains { MachineChecks.isOwn($0) }
    }

    /// Whether what runs here can be seen from outside: on an address that is not the loopback's.
    private func announcement(_ own: [PeerStatus]) -> Finding {
        guard !own.isEmpty else {
            return .ok("announced", "no peer of this machine is announced; to run one: notes run")
        }
        let visible = own.flatMap(\.addresses).filter { !$0.host.hasPrefix("127.") && $0.host != "::1" }
        guard !visible.isEmpty else {
            return .error(
                "announced",
                "this machine's peer is announced on the loopback alone",
                do: "let Avahi use the network: allow-interfaces in /etc/avahi/avahi-daemon.conf"
            )
        }
        guard own.contains(where: { $0.pairing != .unreachable }) else {
            return .error(
                "announced",
                "this machine's peer is announced at \(visible[0]), and does not answer there",
                do: "let the port through this machine's firewall"
            )
        }
        return .ok(
            "announced",
            "this machine's peer is announced at \(visible.map(\.description).joined(separator: ", "))"
        )
    }

    private static func finding(for status: PeerStatus) -> Finding {
        let name = status.hello?.host ?? status.announcedHost ?? status.addresses.first?.host ?? "a peer"
        let place = status.addresses.first.map { " at \($0)" } ?? ""
        switch status.pairing {
        case .paired:
            return .ok("peers", "\(name)\(place) is paired")
        case .refused where status.account == .other || status.team == .other:
            // Somebody else's machines are nobody's fault.
            return .ok("peers", "\(name)\(place) is not ours: \(status.reason?.description ?? "another account")")
        case .refused where status.reason == .revoked:
            return .warning(
                "peers",
                "\(name)\(place) is not paired: it or this machine was revoked",
                do: "see which: handoff account peers"
            )
        case .refused:
            return .error("peers", "\(name)\(place) is not paired", do: status.reason?.description)
        case .unreachable:
            return .warning(
                "peers",
                "\(name)\(place) was seen, and does not answer: \(status.reason?.description ?? "unreachable")",
                do: "let TCP ports 24280 to 24294 through its firewall, or wait until mDNS forgets it"
            )
        case .pending:
            return .warning("peers", "\(name)\(place) was seen, and has not answered yet", do: "look again")
        }
    }
}
