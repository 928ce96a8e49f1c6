import CEpoll
public import Dispatch
import Glibc

/// Tells when file descriptors are ready: epoll(7), on one thread for the whole process.
///
/// It stands where Dispatch's sources would. libdispatch (Swift 6.3 on Linux) is not up to a hang-up: it ends the process
/// where a source is cancelled in the moment that the other end hangs up, and any stranger can hang up; it forgets a
/// hang-up that comes while a source is suspended, and what else waits for the same descriptor.
///
/// A descriptor may be closed as soon as nobody waits for it any more.
public final class Poller: Sendable {
    /// The one of this process: it only orders what others wait for, and sleeps while nothing comes.
    public static let shared = Poller()

    private struct Waiter {
        let queue: DispatchQueue
        let handler: @Sendable () -> Void
    }

    /// A descriptor that somebody waits for.
    private struct Entry {
        /// Tells it from an earlier one of the same number, of which an event may still be on its way.
        let generation: UInt32
        var waiters: [Readiness: Waiter] = [:]
    }

    private struct State {
        var entries: [CInt: Entry] = [:]
        var lastGeneration: UInt32 = 0
    }

    private let epoll: FileDescriptor
    private let state = LockedBox(State())

    private init() {
        let number = epoll_create1(CInt(EPOLL_CLOEXEC))
        // As without memory: the process can do nothing of what it is for.
        guard number >= 0 else { preconditionFailure("\(SystemError("wait for descriptors", code: errno))") }
        epoll = FileDescriptor(owning: number)
        do {
            try BackgroundThread.start { [self] in run() }
        } catch {
            preconditionFailure("\(error)")
        }
    }

    /// Calls a handler once when a descriptor is ready, has an error, or its other end has hung up.
    ///
    /// It takes the place of a handler that waits for the same. A descriptor that cannot be watched counts as ready.
    ///
    /// - Parameters:
    ///   - readiness: What is waited for.
    ///   - number: The descriptor.
    ///   - queue: Where the handler is called.
    ///   - handler: What is called.
    public func wait(
        for readiness: Readiness,
        of number: CInt,
        on queue: DispatchQueue,
        _ handler: @escaping @Sendable () -> Void
    ) {
        let waiter = Waiter(queue: queue, handler: handler)
        let isWatched = state.withLock { state in
            let known = state.entries[number]
            if known == nil { state.lastGeneration &+= 1 }
            var entry = known ?? Entry(generation: state.lastGeneration)
            entry.waiters[readiness] = waiter
            guard control(known == nil ? EPOLL_CTL_ADD : EPOLL_CTL_MOD, number, entry) else { return false }
            state.entries[number] = entry
            return true
        }
        if !isWatched { queue.async(execute: handler) }
    }

    /// Waits no more; a handler that was called already may still be on its queue.
    public func forget(_ readiness: Readiness, of number: CInt) {
        state.withLock { _ = take([readiness], of: number, from: &$0) }
    }

    /// Calls the handler that waits, if there is one, as if the descriptor were ready.
    func hurry(_ readiness: Readiness, of number: CInt) {
        call(state.withLock { take([readiness], of: number, from: &$0) })
    }

    private func call(_ waiters: [Waiter]) {
        for waiter in waiters { waiter.queue.async(execute: waiter.handler) }
    }

    /// Takes those who wait for something, and lets the kernel know what is still waited for.
    private func take(_ kinds: [Readiness], of number: CInt, from state: inout State) -> [Waiter] {
        guard var entry = state.entries[number] else { return [] }
        let taken = kinds.compactMap { entry.waiters.removeValue(forKey: $0) }
        guard !taken.isEmpty else { return [] }
        let isOver = entry.waiters.isEmpty
        _ = control(isOver ? EPOLL_CTL_DEL : EPOLL_CTL_MOD, number, entry)
        state.entries[number] = isOver ? nil : entry
        return taken
    }

    private func control(_ operation: CInt, _ number: CInt, _ entry: Entry) -> Bool {
        var event = epoll_event()
        for kind in entry.waiters.keys { event.events |= kind.epollEvents }
        event.data.u64 = UInt64(entry.generation) << 32 | UInt64(UInt32(bitPattern: number))
        return epoll_ctl(epoll.number, operation, number, &event) == 0
    }

    // MARK: - The thread

    private func run() {
        var events = [epoll_event](repeating: epoll_event(), count: 64)
        while true {
            let count = epoll_wait(epoll.number, &events, CInt(events.count), -1)
            for event in events.prefix(max(0, Int(count))) { came(event) }
        }
    }

    private func came(_ event: epoll_event) {
        let number = CInt(bitPattern: UInt32(truncatingIfNeeded: event.data.u64))
        let waiters = state.withLock { state -> [Waiter] in
            guard state.entries[number]?.generation == UInt32(event.data.u64 >> 32) else { return [] }
            let kinds = [Readiness.readable, .writable].filter { event.events & ($0.epollEvents | Self.endEvents) != 0 }
            return take(kinds, of: number, from: &state)
        }
        call(waiters)
    }

    /// Whatever is waited for, there is nothing more to wait for.
    private static let endEvents = EPOLLERR.rawValue | EPOLLHUP.rawValue
}

extension Readiness {
    fileprivate var epollEvents: UInt32 {
        switch self {
        case .readable: EPOLLIN.rawValue
        case .writable: EPOLLOUT.rawValue
        }
    }
}
