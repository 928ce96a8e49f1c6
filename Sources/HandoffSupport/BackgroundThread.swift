import Glibc

/// Threads for what cannot be a task: calls that block.
public enum BackgroundThread {
    private final class Body: Sendable {
        let run: @Sendable () -> Void

        init(_ run: @escaping @Sendable () -> Void) {
            self.run = run
        }
    }

    /// Runs something on a thread of its own, which gets none of the process's signals and ends with it.
    ///
    /// - Throws: `SystemError` where the process is out of threads or memory.
    public static func start(_ run: @escaping @Sendable () -> Void) throws(SystemError) {
        let body = Unmanaged.passRetained(Body(run))
        var thread = pthread_t()
        let code = pthread_create(&thread, nil, threadMain, body.toOpaque())
        guard code == 0 else {
            body.release()
            throw SystemError("start a thread", code: code)
        }
        pthread_detach(thread)
    }

    fileprivate static func run(_ context: UnsafeMutableRawPointer) {
        // The program's signals are for its own threads.
        var signals = sigset_t()
        sigfillset(&signals)
        pthread_sigmask(SIG_BLOCK, &signals, nil)
        Unmanaged<Body>.fromOpaque(context).takeRetainedValue().run()
    }
}

private func threadMain(_ context: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    if let context { BackgroundThread.run(context) }
    return nil
}
