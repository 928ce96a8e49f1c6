import CommandLineKit
import FoundationEssentials
import Handoff

/// The verbs of `handoff account`.
enum AccountVerbs {
    static let all = [create, show, peers, invite, join, AccountRevoking.verb] + AccountKeeping.all

    private static let team = Option.value(
        "team",
        "TEAM",
        "A team ID of 10 characters A-Z and 0-9, or several; \(AccountStore.standardTeam) where none is given",
        repeats: true
    )

    private static let create = Verb(
        "account create",
        "Make an account, with this machine as its first",
        discussion: """
            Makes the account's key and this machine's identity, in the directories account and identity of the \
            configuration. Keep the account's key on this one machine; the others get identities by `account invite` \
            here and `account join` there. Where an account is there already but no identity, this makes the identity.
            """,
        options: [
            .value(
                "name",
                "NAME",
                "The account's name, which its certificates show; “handoff account” where none is given"
            ),
            team,
        ],
        examples: [Example("handoff account create --name Ada", "Make Ada's account")]
    ) { arguments in
        let store = try store()
        let account = try store.create(
            name: arguments["name"] ?? "handoff account",
            teams: teams(arguments)
        )
        StandardError.write(
            "made the account “\(printable(account.name))”; for another machine: handoff account invite\n"
        )
        try StandardOutput.write(AccountListing(account).text())
        return .done
    }

    private static let show = Verb(
        "account show",
        "Show this machine's account and identities",
        options: [.flag("json", "Print one JSON document")],
        examples: [Example("handoff account show --json | jq -r .hash", "Show the account's hash alone")]
    ) { arguments in
        let listing = AccountListing(try store().summary())
        if arguments.has("json") {
            try StandardOutput.writeJSON(listing)
        } else {
            try StandardOutput.write(listing.text())
        }
        return .done
    }

    private static let peers = Verb(
        "account peers",
        "Show the machines of the account that this one knows",
        discussion: """
            Lists this machine, those that it had links to, those that it invited, and those that were revoked. The name \
            of a host is what that machine calls itself. The machine with the account's key renews the certificates of \
            the others, over links, in the last 60 days before they end.
            """,
        options: [.flag("json", "Print one JSON document")],
        examples: [
            Example("handoff account peers", "Show them"),
            Example(
                "handoff account peers --json | jq -r '.machines[] | select(.revoked == null).host'",
                "Show hosts alone"
            ),
        ]
    ) { arguments in
        let listing = MemberListing(try store().members(host: hostName()))
        if arguments.has("json") {
            try StandardOutput.writeJSON(listing)
        } else {
            let terminal = Terminal.standardOutput(environment: ProcessInfo.processInfo.environment)
            try StandardOutput.write(listing.table(width: terminal.width))
        }
        return .done
    }

    private static let invite = Verb(
        "account invite",
        "Show a code with which one machine can join the account",
        discussion: """
            Prints a code, and waits until a machine has joined with it: five minutes at most. The code is good for one \
            machine. Whoever knows it can join, so tell it to nobody else. Needs the account's key, which is on the \
            machine where the account was made. A firewall has to let the TCP ports \
            \(Invitation.ports.lowerBound) to \(Invitation.ports.upperBound) through.
            """,
        options: [team],
        examples: [
            Example("handoff account invite", "Invite a machine"),
            Example("handoff account invite --team A1B2C3D4E5", "Invite one to the apps of that team"),
        ]
    ) { arguments in
        try await AccountInvitation(store: store(), teams: teams(arguments)).run()
    }

    private static let join = Verb(
        "account join",
        "Make this machine one of the account, with a code that another machine shows",
        discussion: """
            Asks for the code that `handoff account invite` shows on a machine of the account, and finds that machine by \
            mDNS. Upper and lower case are the same, hyphens may be left out, O is 0, and I and L are 1. The code comes \
            from the terminal, from standard input or from a file, never from an argument, which others could see. This \
            machine makes its own key, which never leaves it. An identity that is here is replaced.
            """,
        options: [
            .value("code-file", "FILE", "Read the code from this file", completion: .file),
            .value("peer", "HOST[:PORT]", "The inviting machine, where mDNS does not find it"),
        ],
        examples: [
            Example("handoff account join", "Ask for the code, and join"),
            Example("handoff account join --peer kitchen --code-file code.txt", "Join without mDNS and without typing"),
        ]
    ) { arguments in
        try await AccountJoining(store: store(), arguments).run()
    }

    static func store() throws -> AccountStore {
        AccountStore(configuration: try HandoffPaths(environment: ProcessInfo.processInfo.environment).configuration)
    }

    private static func teams(_ arguments: Arguments) -> [String] {
        arguments.has("team") ? arguments.values("team") : [AccountStore.standardTeam]
    }
}
