import CommandLineKit
import Glibc
import Handoff

exit(await withTaskExecutorPreference(QuietExecutor.shared) { await ContactsProgram.program.runProcess() })
