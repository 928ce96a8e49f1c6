import CSystemd
import Dispatch
import Glibc
import HandoffSupport

/// The Dispatch sources that tell when sd-bus has something to do; it belongs to one queue.
///
/// They watch copies of the descriptor, since sd-bus closes its own without asking Dispatch. The source for writing
/// exists only while output is pending, and the timer while an answer is.
final class BusWatch {
    private static let noTimeout = UInt64.max

    private let bus: OpaquePointer
    private let queue: DispatchQueue
    private let onReady: @Sendable () -> Void
    private var readable: (any DispatchSourceProtocol)?
    private var writable: (any DispatchSourceProtocol)?
    private var timer: (any DispatchSourceTimer)?
    /// What the source for reading watches: sd-bus goes from inotify to the socket.
    private var watched: (number: CInt, isSocket: Bool)?

    /// Watches nothing yet.
    ///
    /// - Parameter bus: It is lent until `cancel`.
    init(bus: OpaquePointer, queue: DispatchQueue, onReady: @escaping @Sendable () -> Void) {
        self.bus = bus
        self.queue = queue
        self.onReady = onReady
    }

    /// Watches what sd-bus waits for now; to be called after each time that it did something.
    func update() {
        let number = sd_bus_get_fd(bus)
        // Over: to be found out by processing.
        guard number >= 0 else { return queue.async(execute: onReady) }
        if watched?.number != number || watched?.isSocket != isSocket(number) {
            cancel()
            readable = makeSource(for: .readable, number)
            watched = (number, isSocket(number))
        }
        if sd_bus_get_events(bus) & POLLOUT == 0 {
            writable?.cancel()
            writable = nil
        } else if writable == nil {
            writable = makeSource(for: .writable, number)
        }
        setTimer()
    }

    /// Ends all calls.
    func cancel() {
        readable?.cancel()
        writable?.cancel()
        timer?.cancel()
        (readable, writable, timer, watched) = (nil, nil, nil, nil)
    }

    private func setTimer() {
        timer?.cancel()
        timer = nil
        var moment = Self.noTimeout
        guard sd_bus_get_timeout(bus, &moment) >= 0, moment != Self.noTimeout else { return }
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        let now = UInt64(time.tv_sec) * 1_000_000 + UInt64(time.tv_nsec) / 1000
        let timer = DispatchSource.makeTimerSource(queue: queue)
        timer.schedule(deadline: .now() + .microseconds(Int(clamping: moment > now ? moment - now : 0)))
        timer.setEventHandler(handler: onReady)
        timer.activate()
        self.timer = timer
    }

    private func makeSource(for readiness: Readiness, _ number: CInt) -> (any DispatchSourceProtocol)? {
        let copy = fcntl(number, F_DUPFD_CLOEXEC, 0)
        guard copy >= 0 else { return nil }
        let source = readiness.makeSource(for: copy, queue: queue)
        source.setEventHandler(handler: onReady)
        source.setCancelHandler { close(copy) }
        source.activate()
        return source
    }
}

/// Whether a descriptor is a socket's: before there is a bus, sd-bus has one of inotify.
func isSocket(_ number: CInt) -> Bool {
    var status = stat()
    return number >= 0 && fstat(number, &status) == 0 && status.st_mode & S_IFMT == S_IFSOCK
}
