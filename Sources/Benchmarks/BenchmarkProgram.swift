import CommandLineKit

/// The command `handoff-bench`.
enum BenchmarkProgram {
    static let program = Program(
        name: "handoff-bench",
        summary: "Measure what the library can do",
        discussion: "`make bench` runs it between two hosts of the lab, beside other tools that do the same.",
        version: Version.current,
        verbs: [serveStreams, runStreams, proximity, crowd, radio]
    )

    private static let identity = Option.value(
        "identity",
        "DIRECTORY",
        "This machine's identity, as certs/make-peer makes it",
        completion: .file
    )
    private static let port = Option.value("port", "PORT", "Where streams are served; 5290 where it is not given")
    private static let streams = Option.value("streams", "COUNT", "How many there are at once; 1 where it is not given")

    private static let serveStreams = Verb(
        "stream serve",
        "Send what is asked for over streams",
        discussion: """
            Prints one line as soon as it listens. When all streams have ended, it prints what they took as a line of \
            JSON, and ends.
            """,
        options: [identity, port, streams],
        examples: [Example("handoff-bench stream serve --identity a", "Serve one stream")]
    ) { arguments in
        try await StreamBenchmark(arguments).serve()
    }

    private static let runStreams = Verb(
        "stream run",
        "Read streams into memory, and print how fast that was",
        discussion: "What it prints is a line of JSON. It has to be told the same number of streams as the other end.",
        positionals: [.required("ADDRESS", "The IP address where `stream serve` runs")],
        options: [
            identity, port, streams,
            .value("mebibytes", "COUNT", "How much all streams carry; 1024 where it is not given"),
        ],
        examples: [Example("handoff-bench stream run 10.77.0.1 --identity b", "Read 1 GiB")]
    ) { arguments in
        let mebibytes = try arguments.number("mebibytes", in: 1...1_000_000) ?? 1024
        return try await StreamBenchmark(arguments).run(at: arguments.required("ADDRESS"), bytes: mebibytes << 20)
    }

    private static let proximity = Verb(
        "proximity",
        "Simulate hours among peers, and print how often the right one was the nearest",
        discussion: """
            The measurements are made up, with the noise of radios and networks; what judges them is the real thing. \
            Prints the worst of the hours of each scene, and fails where the right peer was first in less than 99 % of \
            the time, two changes came within 5 s, or anything changed among equals. docs/proximity.md explains it.
            """,
        options: [.value("hours", "COUNT", "How many hours of each scene; 3 where it is not given")],
        examples: [Example("handoff-bench proximity", "Simulate three hours of each scene")]
    ) { arguments in
        try ProximityBenchmark(arguments).run()
    }

    private static let crowd = Verb(
        "crowd",
        "Run many peers of one account, before whom another one is measured",
        discussion: """
            They listen and answer, but find nobody by themselves. What each of them would announce is printed as a line \
            of JSON, for somebody to publish, and then the line “ready”. Each line on standard input is the number of a \
            peer, from 0, and changes what that one offers; they end with the input. `Tests/lan/crowd` spreads them \
            over the hosts of the lab.
            """,
        options: [
            .value("account", "DIRECTORY", "The account, as certs/make-account makes it", completion: .file),
            .value("team", "TEAM", "The team that they are of"),
            .value("peers", "COUNT", "How many there are; 100 where it is not given"),
            .value("strangers", "COUNT", "How many announcements of nobody are printed, too; 0 where it is not given"),
        ],
        examples: [
            Example("handoff-bench crowd --account account --team HANDOFFAPP --peers 75", "Run 75 peers")
        ]
    ) { arguments in
        try await CrowdBenchmark(arguments).run()
    }

    private static let radio = Verb(
        "radio",
        "Print what this machine's radios hear of others",
        discussion: """
            Listens over Bluetooth, asks once about Wi-Fi, and prints each signal, and why there is none. Run it with \
            different tags on two machines to see how far they are from each other. docs/proximity-radio.md explains it.
            """,
        options: [
            .value("tag", "HEX", "What others are to hear of this machine; it is not heard where it is not given"),
            .value("seconds", "COUNT", "How long to listen; 60 where it is not given"),
        ],
        examples: [Example("handoff-bench radio --tag 0a0b0c0d", "Be heard as 0a0b0c0d, and listen for a minute")]
    ) { arguments in
        try await RadioTrial(arguments).run()
    }
}
