import CommandLineKit

/// The command `handoff`.
enum HandoffProgram {
    static let program = Program(
        name: "handoff",
        summary: "See the handoff peers on the local network, and make machines of one account",
        discussion: """
            Peers are the running apps of your machines that hand activities off to each other. They find each other \
            through Avahi and pair only when both hold certificates of the same account and the same team.

            `handoff account` makes the account and adds machines to it. This machine's identity is read from the directory identity below $HANDOFF_HOME/config, or below \
            $XDG_CONFIG_HOME/handoff (~/.config/handoff).
            """,
        version: Version.current,
        verbs: [discover, Doctor.verb] + AccountVerbs.all
    )

    private static let discover = Verb(
        "discover",
        "Show who is on the network, and whether it is paired with this machine",
        discussion: """
            Looks for peers, links to those of this machine's account and team, and lists them all: the paired ones \
            first, the nearest at the top, then the others, each with the reason why it is not paired. No peer has to \
            run on this machine.
            """,
        options: [
            .flag("json", "Print one JSON document"),
            .value("timeout", "SECONDS", "How long to look at most; 3 where it is not given"),
            .flag("verbose", short: "v", "Tell on stderr what happens"),
        ],
        examples: [
            Example("handoff discover", "Show the peers"),
            Example("handoff discover --json | jq '.peers[].host'", "Show their hosts alone"),
        ]
    ) { arguments in
        try await Discover(arguments).run()
    }
}
