import CommandLineKit
import Glibc

exit(await NotesProgram.main().rawValue)
