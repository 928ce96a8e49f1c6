import CommandLineKit

/// The command `handoff-bench`.
enum BenchmarkProgram {
    static let program = Program(
        name: "handoff-bench",
        summary: "Measure what the library can do",
        discussion: "Tests/lan/bench runs it between two hosts of the lab, beside other tools that do the same.",
        version: Version.current,
        verbs: [serve, run]
    )

    private static let identity = Option.value(
        "identity",
        "DIRECTORY",
        "This machine's identity, as certs/make-peer makes it",
        completion: .file
    )

    private static let serve = Verb(
        "stream serve",
        "Send streams to whoever asks for them",
        discussion: """
            Prints one line when it listens, and a line of JSON after each stream. It ends after COUNT streams.
            """,
        options: [
            identity,
            .value("port", "PORT", "Where to listen"),
            .value("streams", "COUNT", "How many streams to serve; 1 where it is not given"),
            .value("mebibytes", "COUNT", "x"),
        ]
    ) { arguments in
        try await StreamBenchmark(arguments).serve()
    }

    private static let run = Verb(
        "stream run",
        "Read a stream into memory and print how fast that was",
        positionals: [.required("ADDRESS", "Where `stream serve` listens, an IP address")],
        options: [
            identity,
            .value("port", "PORT", "Where `stream serve` listens"),
            .value("mebibytes", "COUNT", "How long the stream is; 1024 where it is not given"),
            .value("streams", "COUNT", "How many streams there are at once; 1 where it is not given"),
        ]
    ) { arguments in
        try await StreamBenchmark(arguments).run(at: arguments.required("ADDRESS"))
    }
}
