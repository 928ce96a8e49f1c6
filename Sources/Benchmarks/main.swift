import CommandLineKit
import Glibc
import HandoffSupport

exit(await BenchmarkProgram.program.runProcess())
