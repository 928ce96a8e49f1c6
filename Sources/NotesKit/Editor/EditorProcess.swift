@preconcurrency import Glibc  // for `environ`, which nothing here changes
import HandoffSupport

/// A run of an editor; it waits on a queue of its own.
actor EditorProcess {
    private let executor = QueueExecutor(label: "handoff.editor")

    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    /// Runs an editor on a file, in the terminal that this process has, until it ends.
    ///
    /// Meanwhile this process ignores what the terminal's keys send: they are meant for the editor.
    ///
    /// - Returns: How it ended, or why it could not be started.
    func run(_ editor: Editor, on path: String) -> Result<Editor.End, SystemError> {
        let keyboardSignals = [SIGINT, SIGQUIT]
        let handlers = keyboardSignals.map { signal($0, SIG_IGN) }
        defer { for (number, handler) in zip(keyboardSignals, handlers) { signal(number, handler) } }

        // As git does it: the shell splits the command, which may have options and quotes.
        let arguments = ["sh", "-c", editor.command + " \"$@\"", editor.command, path]
        var child: pid_t = 0
        let code = Self.spawn("/bin/sh", arguments, defaultSignals: keyboardSignals + [SIGPIPE], &child)
        guard code == 0 else { return .failure(SystemError("start the editor", code: code)) }
        var status: CInt = 0
        while waitpid(child, &status, 0) < 0 {
            let code = errno
            guard code == EINTR else { return .failure(SystemError("wait for the editor", code: code)) }
        }
        return .success(Editor.End(waitStatus: status))
    }

    private static func spawn(
        _ path: String,
        _ arguments: [String],
        defaultSignals: [CInt],
        _ child: inout pid_t
    ) -> CInt {
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var signals = sigset_t()
        sigemptyset(&signals)
        // Dispatch's threads block all signals, and a child starts with its thread's mask.
        posix_spawnattr_setsigmask(&attributes, &signals)
        for number in defaultSignals { sigaddset(&signals, number) }
        posix_spawnattr_setsigdefault(&attributes, &signals)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))

        var pointers: [UnsafeMutablePointer<CChar>?] = arguments.map { strdup($0) }
        defer { for pointer in pointers { free(pointer) } }
        pointers.append(nil)
        return posix_spawn(&child, path, nil, &attributes, pointers, environ)
    }
}
