import Glibc
import HandoffSupport

/// Hears each time that a file has been written, in whichever way an editor does that.
///
/// It watches the file's directory, since most editors put a new file in the place of the old one.
actor DraftWatch {
    private let executor = QueueExecutor(label: "handoff.draft-watch")
    private let inotify: FileDescriptor
    private let watch: CInt
    private let name: [UInt8]
    private var isOver = false

    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    /// Starts to watch; what is written after this returns is not missed.
    ///
    /// - Parameter path: The file's absolute path.
    /// - Throws: `SystemError`.
    init(path: String) throws(SystemError) {
        let slash = path.lastIndex(of: "/") ?? path.startIndex
        let (directory, name) = (path[..<slash], path[slash...].dropFirst())
        let number = inotify_init1(CInt(IN_CLOEXEC))
        guard number >= 0 else { throw SystemError("watch \(directory)", code: errno) }
        inotify = FileDescriptor(owning: number)
        watch = inotify_add_watch(number, String(directory), UInt32(IN_CLOSE_WRITE | IN_MOVED_TO))
        guard watch >= 0 else { throw SystemError("watch \(directory)", code: errno) }
        self.name = Array(name.utf8)
    }

    /// Waits until the file has been written since the last call.
    ///
    /// - Returns: False when the watch was stopped, and all that was written before has been told.
    func next() -> Bool {
        // Room for one event at least, with the longest name.
        var buffer = [UInt8](repeating: 0, count: 16 * (headerBytes + Int(NAME_MAX) + 1))
        while !isOver {
            let count = read(inotify.number, &buffer, buffer.count)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { break }
            if take(buffer[..<count]) { return true }
        }
        return false
    }

    /// Ends the waiting: the kernel answers with a last event.
    nonisolated func stop() {
        inotify_rm_watch(inotify.number, watch)
    }

    /// Reads events (inotify(7)): watch, mask, cookie, length of the name, and the name filled up with zeros.
    private func take(_ events: ArraySlice<UInt8>) -> Bool {
        var isWritten = false
        var rest = events
        while rest.count >= headerBytes {
            let (mask, length) = rest.withUnsafeBytes { bytes in
                (
                    bytes.loadUnaligned(fromByteOffset: 4, as: UInt32.self),
                    Int(bytes.loadUnaligned(fromByteOffset: 12, as: UInt32.self))
                )
            }
            let name = rest.dropFirst(headerBytes).prefix(length).prefix { $0 != 0 }
            rest = rest.dropFirst(headerBytes + length)
            if mask & UInt32(IN_IGNORED) != 0 { isOver = true }
            // After an overflow anything may have happened.
            if mask & UInt32(IN_Q_OVERFLOW) != 0 || name.elementsEqual(self.name) { isWritten = true }
        }
        return isWritten
    }
}

private let headerBytes = MemoryLayout<inotify_event>.size
