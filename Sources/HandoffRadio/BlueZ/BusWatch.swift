import CSystemd
import Dispatch
import Glibc
import HandoffSupport

/// Tells when sd-bus has something to do; it belongs to one queue.
///
/// It watches a copy of the descriptor, since sd-bus closes its own without asking. Room to write is waited for only while
/// output is pending, and there is a timer only while an answer is.
final class BusWatch {
    private static let noTimeout = UInt64.max

    private let bus: OpaquePointer
    private let queue: DispatchQueue
    private let onReady: @Sendable () -> Void
    private var timer: (any DispatchSourceTimer)?
    /// What is watched, and its copy: sd-bus goes from inotify to the socket.
    private var watched: (number: CInt, isSocket: Bool, copy: CInt)?

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
            let copy = fcntl(number, F_DUPFD_CLOEXEC, 0)
            guard copy >= 0 else { return }
            watched = (number, isSocket(number), copy)
        }
        if let copy = watched?.copy {
            Poller.shared.wait(for: .readable, of: copy, on: queue, onReady)
            if sd_bus_get_events(bus) & POLLOUT == 0 {
                Poller.shared.forget(.writable, of: copy)
            } else {
                Poller.shared.wait(for: .writable, of: copy, on: queue, onReady)
            }
        }
        setTimer()
    }

    /// Ends all calls.
    func cancel() {
        timer?.cancel()
        timer = nil
        guard let copy = watched?.copy else { return }
        Poller.shared.forget(.readable, of: copy)
        Poller.shared.forget(.writable, of: copy)
        close(copy)
        watched = nil
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
}

/// Whether a descriptor is a socket's: before there is a bus, sd-bus has one of inotify.
func isSocket(_ number: CInt) -> Bool {
    var status = stat()
    return number >= 0 && fstat(number, &status) == 0 && status.st_mode & S_IFMT == S_IFSOCK
}
