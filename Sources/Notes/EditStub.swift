import CommandLineKit

func edit(noteID: String, _ files: NotesFiles) async throws -> ExitCode { .failed }
