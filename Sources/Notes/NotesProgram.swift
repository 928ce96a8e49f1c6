import CommandLineKit

/// The program `notes`: its verbs, in the order of the help text.
enum NotesProgram {
    static func main() async -> ExitCode {
        SignalStream.ignoreBrokenPipes()
        let program = Program(
            name: "notes",
            summary: "Notes that you start on one machine and carry on with on the next",
            version: "0.1.0",
            verbs: [.run, .open, .close, .activities, .continueNote, .status]
        )
        return await program.run(Array(CommandLine.arguments.dropFirst()))
    }
}
