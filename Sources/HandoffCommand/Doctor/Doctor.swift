import CommandLineKit
import FoundationEssentials
import Handoff

/// `handoff doctor`: looks at everything that a handoff needs, and says of each thing what to do.
enum Doctor {
    static let verb = Verb(
        "doctor",
        "Look for what keeps this machine from handing off, and say what to do",
        discussion: """
            Looks at the message bus, at Avahi, the network interfaces, the ports, this machine's identities and their \
            dates, the clock, and the peers that are seen. Each line is ok, a warning or an error, and below it stands the \
            one thing to do. It changes nothing. The exit code is 1 where there is an error.
            """,
        options: [.flag("json", "Print one JSON document")],
        examples: [
            Example("handoff doctor", "Look at this machine"),
            Example(
                "handoff doctor --json | jq '.checks[] | select(.state != \"ok\")'",
                "Show what is not right alone"
            ),
        ]
    ) { arguments in
        let findings = Findings(try await examine())
        if arguments.has("json") {
            try StandardOutput.writeJSON(findings)
        } else {
            try StandardOutput.write(findings.text())
        }
        return findings.isHealthy ? .done : .failed
    }

    private static func examine() async throws -> [Finding] {
        let store = try AccountVerbs.store()
        let machine = MachineChecks(store: store, now: Date())
        var findings = [machine.clock()] + machine.identities() + machine.interfaces() + machine.ports()
        let daemons = await NetworkChecks().daemons()
        findings += daemons
        // Without either of them there is nobody to ask, and the cause is told already.
        if !daemons.contains(where: { $0.state == .error }),
            let identity = try? Identity.load(directory: store.identityDirectory)
        {
            findings += await NetworkChecks().peers(identity: identity)
        }
        return findings
    }
}
