import CommandLineKit
import Glibc

exit(await BenchmarkProgram.program.runProcess())
