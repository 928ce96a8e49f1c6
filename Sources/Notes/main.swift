import CommandLineKit

await NotesProgram.program.runProcess()
