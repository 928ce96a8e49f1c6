import Glibc

/// Tells when files in some directories have changed, whoever has changed them (inotify(7)).
public final class DirectoryChanges: Sendable {
    private let descriptor: FileDescriptor

    /// Begins to watch; what changes from now on is told.
    ///
    /// - Parameter paths: The directories themselves are watched, not what takes their place.
    /// - Throws: `SystemError`.
    public init(in paths: [String]) throws(SystemError) {
        let number = inotify_init1(CInt(IN_CLOEXEC) | CInt(IN_NONBLOCK))
        guard number >= 0 else { throw SystemError("watch files", code: errno) }
        descriptor = FileDescriptor(owning: number)
        let events = UInt32(IN_CLOSE_WRITE | IN_MOVED_TO | IN_MOVED_FROM | IN_DELETE)
        for path in paths {
            guard inotify_add_watch(number, path, events | UInt32(IN_ONLYDIR)) >= 0 else {
                let code = errno
                throw SystemError("watch \(path)", code: code)
            }
        }
    }

    /// Waits until something has changed; several changes in a row are one.
    ///
    /// - Throws: `CancellationError`.
    public func next() async throws {
        try await Readiness.readable.wait(for: descriptor.number, of: self)
        // What they say is not looked at: the files are read again in each case.
        var scratch = [UInt8](repeating: 0, count: 4096)
        while read(descriptor.number, &scratch, scratch.count) > 0 {}
    }
}
