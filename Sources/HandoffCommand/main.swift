import CommandLineKit
import Glibc

SignalStream.ignoreBrokenPipes()
exit(await HandoffProgram.program.run(Array(CommandLine.arguments.dropFirst())).rawValue)
