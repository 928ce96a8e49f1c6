import Glibc

extension Program {
    /// Does what the process was started for.
    ///
    /// All that `main.swift` has to call before it exits. Arguments that are not UTF-8 are refused, where
    /// `CommandLine.arguments` would repair them and let a text in that the user did not give.
    ///
    /// - Returns: The exit status.
    public func runProcess() async -> Int32 {
        SignalStream.ignoreBrokenPipes()
        var arguments: [String] = []
        for index in 1..<max(1, CommandLine.argc) {
            guard let bytes = CommandLine.unsafeArgv[Int(index)] else { break }
            guard let argument = String(validatingCString: bytes) else {
                complain("argument \(index) is not UTF-8: check the terminal's encoding\nTry `\(name) help`.")
                return ExitCode.usage.rawValue
            }
            arguments.append(argument)
        }
        return await run(arguments).rawValue
    }
}
