import CAvahi
import Glibc
import HandoffSupport

/// What users ask of the engine's thread, and the descriptor that wakes it.
///
/// It never makes its caller wait. Commands that a later one makes void are dropped, so that it stays small while the
/// thread is stuck in a call to a daemon that hangs.
final class AvahiMailbox: Sendable {
    private struct State {
        var commands: [AvahiCommand] = []
        var isStopping = false
    }

    private let state = LockedBox(State())
    private let event: FileDescriptor

    init() throws(DiscoveryError) {
        let number = CAvahi_eventfd()
        guard number >= 0 else {
            let reason = SystemError("make an eventfd", code: errno)
            throw DiscoveryError(.failed, "cannot look for peers: \(reason)", rawCode: reason.code)
        }
        event = FileDescriptor(owning: number)
    }

    /// Becomes readable when there is something new; lent, not to be closed.
    var descriptor: CInt { event.number }

    var isStopping: Bool { state.withLock { $0.isStopping } }

    func post(_ command: AvahiCommand) {
        state.withLock { state in
            state.commands.removeAll { command.voids($0) }
            state.commands.append(command)
        }
        wake()
    }

    func stop() {
        state.withLock { $0.isStopping = true }
        wake()
    }

    func takeCommands() -> [AvahiCommand] {
        state.withLock { state in
            defer { state.commands = [] }
            return state.commands
        }
    }

    /// Makes the descriptor unreadable again.
    func acknowledge() {
        var count: UInt64 = 0
        _ = read(event.number, &count, MemoryLayout<UInt64>.size)
    }

    private func wake() {
        var one: UInt64 = 1
        _ = write(event.number, &one, MemoryLayout<UInt64>.size)
    }
}

extension AvahiCommand {
    /// True where the earlier command need not be carried out before this one.
    fileprivate func voids(_ earlier: AvahiCommand) -> Bool {
        switch (self, earlier) {
        case (.announce, .announce), (.announce, .withdraw), (.withdraw, .announce), (.withdraw, .withdraw): true
        case (.want(let name), .want(let other)), (.want(let name), .forget(let other)): name == other
        case (.forget(let name), .want(let other)), (.forget(let name), .forget(let other)): name == other
        default: false
        }
    }
}
