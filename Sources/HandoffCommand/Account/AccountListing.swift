import CommandLineKit
import FoundationEssentials
import Handoff

/// An account as `handoff account show` shows it.
struct AccountListing: Encodable {
    private enum CodingKeys: String, CodingKey {
        case name, hash, machines
        case holdsKey = "holds_key"
    }

    private struct Machine: Encodable {
        private enum CodingKeys: String, CodingKey {
            case team, machine, serial, fingerprint, directory
            case notBefore = "not_before"
            case notAfter = "not_after"
        }

        let team: String
        let machine: String
        let serial: String
        let fingerprint: String
        let directory: String
        let notBefore: Date
        let notAfter: Date
    }

    private let name: String
    private let hash: String
    private let holdsKey: Bool
    private let machines: [Machine]

    init(_ account: AccountSummary) {
        name = account.name
        hash = account.hash
        holdsKey = account.holdsKey
        machines = account.machines.map { machine in
            Machine(
                team: machine.team,
                machine: machine.machineID,
                serial: machine.serial,
                fingerprint: machine.fingerprint,
                directory: machine.directory,
                notBefore: machine.notBefore,
                notAfter: machine.notAfter
            )
        }
    }

    /// The lines for people.
    func text() -> String {
        var lines = [
            "account      \(printable(name))",
            "hash         \(hash)",
            "key          \(holdsKey ? "on this machine, which can invite others" : "on another machine")",
        ]
        if machines.isEmpty { lines.append("identity     none; run: handoff account create") }
        for machine in machines {
            lines += [
                "",
                "team         \(printable(machine.team))",
                "machine      \(machine.machine)",
                "fingerprint  \(machine.fingerprint)",
                "valid until  \(machine.notAfter.ISO8601Format())",
                "directory    \(printable(machine.directory))",
            ]
        }
        return lines.map { $0 + "\n" }.joined()
    }
}
