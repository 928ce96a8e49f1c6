import CommandLineKit

await HandoffProgram.program.runProcess()
