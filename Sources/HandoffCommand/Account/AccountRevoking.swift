import CommandLineKit
import FoundationEssentials
import Handoff

/// `handoff account revoke`: takes a machine out of the account.
enum AccountRevoking {
    static let verb = Verb(
        "account revoke",
        "Take a machine out of the account, a lost one for example",
        discussion: """
            The other machines refuse it from then on, and end its links at once; the account gets a new discovery key, so \
            that it recognises none of them any more. Peers that run here hear of it within a second, and tell the others; \
            where none runs, they do at their next start. A machine that is off learns it from the first one that it meets. \
            It cannot be undone: the machine can be invited again, as a new one. Needs the account's key.
            """,
        positionals: [
            .required(
                "PEER",
                "The machine: its id, the beginning of it, or its host's name (`handoff account peers`)",
                completion: .lines(
                    of:
                        "handoff account peers --json 2>/dev/null | sed -n 's/.*\"machine\" *: *\"\\([0-9a-f-]*\\)\".*/\\1/p'"
                )
            )
        ],
        options: [
            .flag("yes", short: "y", "Do not ask"),
            .flag("force", "Revoke even this very machine"),
        ],
        examples: [
            Example("handoff account revoke laptop", "Take the machine out that calls itself laptop"),
            Example("handoff account revoke 6f9619ff --yes", "Take one out without being asked"),
        ]
    ) { arguments in
        let store = try AccountVerbs.store()
        let member = try AccountStore.member(
            named: arguments.required("PEER"),
            of: store.members(host: hostName())
        )
        let name = member.host.map { "\(printable($0)) (machine \(member.machineID))" } ?? "machine \(member.machineID)"
        if let revoked = member.revoked {
            try StandardOutput.write("\(name) was revoked already, on \(revoked.ISO8601Format())\n")
            return .done
        }
        let isForced = arguments.has("force")
        try store.checkCanRevoke(member, allowsThisMachine: isForced)
        if !arguments.has("yes") {
            guard SecretInput.isTyped else {
                throw CommandFailure.usage("nobody is there to be asked: say --yes")
            }
            // The same as typing nothing, where standard input ends.
            let answer = try? SecretInput.line(
                prompt: "Revoke \(name)? It cannot be undone. Type yes: ",
                isShown: true,
                file: nil
            )
            guard answer == "yes" else { throw CommandFailure("nothing was revoked") }
        }
        try store.revoke(member, allowsThisMachine: isForced)
        try StandardOutput.write("revoked \(name)\n")
        return .done
    }
}
