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
            first, the nearest at the top, then the others, each with the reason why it is not paired. What is not \
            known when the time is over is shown as pending. Machines that were paired once are looked for at their last \
            addresses, too.

            No peer has to run on this machine. Where one does, it is asked instead, and answers at once, unless it has \
            lost sight of another; its round-trip times may be a minute old. With --timeout, --watch, --explain or \
            --peer the command looks for itself.
            """,
        options: [
            .flag("json", "Print one JSON document; with --watch one object a line for each event"),
            .value("timeout", "SECONDS", "Look anew, so long at most; 1.5 where no peer here is asked"),
            .flag("watch", short: "w", "Go on, and show what changes, until Ctrl-C"),
            .flag("all", short: "a", "Show the peers of other accounts, too"),
            .flag("explain", "Tell what the order of the paired peers rests on"),
            .value("app", "APP", "Show the peers of one app only, by its name or its id"),
            .value("host", "HOST", "Show the peers on one host only"),
            .value(
                "peer",
                "HOST[:PORT]",
                "Look for peers there, too; without a port at each of 24280 to 24289",
                repeats: true
            ),
            .flag("verbose", short: "v", "Tell on stderr what happens"),
        ],
        examples: [
            Example("handoff discover", "Show the peers"),
            Example("handoff discover --watch", "Go on watching them"),
            Example("handoff discover --explain", "See why one is nearer than another"),
            Example("handoff discover --json | jq '.peers[].host'", "Show their hosts alone"),
        ]
    ) { arguments in
        try await Discover(arguments).run()
    }
}
