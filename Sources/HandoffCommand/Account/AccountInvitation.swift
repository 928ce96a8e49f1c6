import CommandLineKit
import Handoff

/// `handoff account invite`: shows a code, and waits for the machine that joins with it.
struct AccountInvitation {
    let store: AccountStore
    let teams: [String]

    func run() async throws -> ExitCode {
        let invitation = try await store.invite(
            host: hostName(),
            teams: teams,
            discovery: AvahiDiscovery(type: Invitation.serviceType),
            onEvent: Self.report
        )
        try StandardOutput.write("\(invitation.code.text)\n")
        StandardError.write(
            "on the other machine, within five minutes, run: handoff account join\n"
                + "and type the code; or without mDNS: handoff account join --peer \(hostName()):\(invitation.port)\n"
        )
        let signals = await SignalStream.open()
        let machine = try await withThrowingTaskGroup(of: Invitation.NewMachine.self) { group in
            defer { group.cancelAll() }
            group.addTask { try await invitation.run() }
            group.addTask {
                for await _ in signals { break }
                throw CommandFailure("the invitation is over: it was broken off")
            }
            guard let machine = try await group.next() else { throw CancellationError() }
            return machine
        }
        try StandardOutput.write(
            """
            \(printable(machine.host)) has joined
            machine      \(machine.machineID)
            teams        \(machine.teams.joined(separator: ", "))
            fingerprint  \(machine.fingerprint)

            """
        )
        StandardError.write("compare the fingerprint with the one over there\n")
        for other in try store.members(host: hostName())
        where other.host == machine.host && other.machineID != machine.machineID && other.revoked == nil {
            StandardError.write(
                "another machine of that name is of the account; if it was this one before, run: "
                    + "handoff account revoke \(other.machineID)\n"
            )
        }
        return .done
    }

    private static func report(_ event: Invitation.Event) {
        switch event {
        case .announced: break
        case .notAnnounced(let error):
            StandardError.write("handoff: not announced: \(printable(error.message)); join with --peer\n")
        case .wrongCode(let address, let count):
            StandardError.write("handoff: a wrong code came from \(address.host) (\(count) so far)\n")
        case .turnedAway(let host, let error):
            StandardError.write("handoff: \(printable(host)) could not join: \(printable(error.description))\n")
        }
    }
}
