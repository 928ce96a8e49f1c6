import CAvahi
import HandoffSupport

/// Does what the state machine wants; everything in it belongs to one thread.
///
/// libavahi-client is not thread-safe, and each of its calls waits up to 25 s for the daemon. So the thread is its own,
/// sleeps in Avahi's poll, and is woken by the mailbox. Nothing waits for it without a limit.
///
/// At the end the client is freed first, which frees the objects on it and makes the daemon withdraw the announcement;
/// then the watch, then the poll that both hang on.
final class AvahiEngine {
    private let type: String
    private let mailbox: AvahiMailbox
    private let waiters: ServiceWaiters
    private let events: DiscoveryEvents
    private let clock: MonotonicClock
    private let log: Log
    private let inbox = AvahiInbox()
    private var machine = AvahiDiscovery.StateMachine()
    private var client: AvahiHandle?
    private var handles: [AvahiObjectID: AvahiHandle] = [:]

    init(
        type: String,
        mailbox: AvahiMailbox,
        waiters: ServiceWaiters,
        events: DiscoveryEvents,
        clock: MonotonicClock,
        log: Log
    ) {
        self.type = type
        self.mailbox = mailbox
        self.waiters = waiters
        self.events = events
        self.clock = clock
        self.log = log
    }

    /// Works until the mailbox says stop.
    func run() throws(DiscoveryError) {
        guard let poll = avahi_simple_poll_new() else { throw DiscoveryError(avahiCode: Int32(AVAHI_ERR_NO_MEMORY)) }
        defer { avahi_simple_poll_free(poll) }
        guard let api = avahi_simple_poll_get(poll),
            let watch = api.pointee.watch_new(
                api,
                mailbox.descriptor,
                AVAHI_WATCH_IN,
                mailboxBecameReadable,
                Unmanaged.passUnretained(mailbox).toOpaque()
            )
        else { throw DiscoveryError(avahiCode: Int32(AVAHI_ERR_NO_MEMORY)) }
        defer { api.pointee.watch_free(watch) }
        defer { closeClient() }
        while true {
            catchUp(api)
            if mailbox.isStopping { return }
            guard avahi_simple_poll_iterate(poll, pollTimeout()) == 0 else {
                throw DiscoveryError(avahiCode: Int32(AVAHI_ERR_OS))
            }
        }
    }

    /// Handles all that has come in or become due.
    private func catchUp(_ api: UnsafePointer<AvahiPoll>) {
        repeat {
            for command in mailbox.takeCommands() { perform(machine.handle(command, now: clock.now), api) }
            for event in inbox.take() { perform(machine.handle(event, now: clock.now), api) }
            perform(machine.advance(now: clock.now), api)
        } while !inbox.isEmpty && !mailbox.isStopping
    }

    /// Milliseconds until the machine's deadline, rounded up so that none is missed by a hair; -1 for ever.
    private func pollTimeout() -> Int32 {
        guard let deadline = machine.deadline else { return -1 }
        let (seconds, attoseconds) = max(deadline - clock.now, .zero).components
        return Int32(clamping: seconds * 1000 + attoseconds / 1_000_000_000_000_000 + 1)
    }

    private func perform(_ actions: [AvahiAction], _ api: UnsafePointer<AvahiPoll>) {
        for action in actions {
            // Each of the calls may take 25 s: after stop none is begun.
            if mailbox.isStopping { return }
            switch action {
            case .open(let id, .client): openClient(id, api)
            case .open(let id, let object): open(id, object)
            case .close(let id): handles.removeValue(forKey: id)?.close()
            case .closeClient: closeClient()
            case .emit(let event): emit(event)
            case .answer(let service): waiters.answer(service)
            case .refuse(let error): waiters.refuse(error)
            }
        }
    }

    private func openClient(_ id: AvahiObjectID, _ api: UnsafePointer<AvahiPoll>) {
        var code: Int32 = 0
        client = .makeClient(id, inbox, poll: api, code: &code)
        if client == nil { inbox.add(.failed(id, code)) }
    }

    private func open(_ id: AvahiObjectID, _ object: AvahiObject) {
        guard let client else { return }
        client.withPointer { client in
            let handle: AvahiHandle? =
                switch object {
                case .client: preconditionFailure("the client is opened elsewhere")
                case .browser: .makeBrowser(id, inbox, client: client, type: type)
                case .resolver(let key): .makeResolver(id, inbox, client: client, type: type, key: key)
                case .group: .makeGroup(id, inbox, client: client)
                }
            guard let handle else { return inbox.add(.failed(id, avahi_client_errno(client))) }
            handles[id] = handle
            guard case .group(let announcement) = object else { return }
            let code = handle.publish(announcement, type: type)
            if code < 0 { inbox.add(.failed(id, code)) }
        }
    }

    private func closeClient() {
        client?.close()
        client = nil
        for handle in handles.values { handle.forget() }
        handles = [:]
    }

    private func emit(_ event: DiscoveryEvent) {
        if case .unavailable(let error) = event { log(.debug, "discovery is unavailable", ["reason": error.message]) }
        events.post(event)
    }
}

private func mailboxBecameReadable(
    watch: OpaquePointer?,
    descriptor: CInt,
    event: AvahiWatchEvent,
    userdata: UnsafeMutableRawPointer?
) {
    guard let userdata else { return }
    // The engine, whose poll calls this, holds the mailbox.
    Unmanaged<AvahiMailbox>.fromOpaque(userdata).takeUnretainedValue().acknowledge()
}
