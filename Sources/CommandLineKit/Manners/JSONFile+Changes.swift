import Dispatch
import Glibc

extension JSONFile {
    /// Hears of each change of the file, whoever makes it, from when this returns.
    ///
    /// Changes in quick succession may be told as one, and another file of the directory as a change of this one: it is
    /// read again in each case.
    ///
    /// - Throws: ``CommandFailure`` where the directory cannot be made or watched.
    public func changes() throws -> AsyncStream<Void> {
        try HandoffPaths.makeDirectory(directory)
        let inotify = inotify_init1(CInt(IN_CLOEXEC) | CInt(IN_NONBLOCK))
        guard inotify >= 0 else { throw failure("watch", directory) }
        // The directory, since a file that is replaced is another one.
        let events = UInt32(IN_CLOSE_WRITE | IN_MOVED_TO | IN_MOVED_FROM | IN_DELETE)
        guard inotify_add_watch(inotify, directory, events) >= 0 else {
            defer { close(inotify) }
            throw failure("watch", directory)
        }
        let (changes, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let queue = DispatchQueue(label: "handoff.file-changes")
        // A source may be cancelled on any thread.
        nonisolated(unsafe) let source = DispatchSource.makeReadSource(fileDescriptor: inotify, queue: queue)
        source.setEventHandler { @Sendable in
            var buffer = [UInt8](repeating: 0, count: 4096)
            while Glibc.read(inotify, &buffer, buffer.count) > 0 {}
            continuation.yield()
        }
        source.setCancelHandler { @Sendable in close(inotify) }
        source.activate()
        continuation.onTermination = { _ in source.cancel() }
        return changes
    }
}
