import CAvahi
import HandoffSupport

/// Events that callbacks have left, in order; confined to the engine's thread.
///
/// Callbacks only add to it. What follows from an event is done after libavahi has returned, so nothing is ever freed
/// inside a callback.
final class AvahiInbox {
    private var events: [AvahiEvent] = []

    var isEmpty: Bool { events.isEmpty }

    func add(_ event: AvahiEvent) {
        events.append(event)
    }

    func take() -> [AvahiEvent] {
        defer { events = [] }
        return events
    }
}

/// The owner of one C object: client, browser, resolver or entry group; confined to the engine's thread.
///
/// The callback's context is released after the object was freed, never before. Freeing a client frees the objects that
/// hang on it; their handles are told so by `forget`.
final class AvahiHandle {
    /// What a callback gets back as its user data.
    fileprivate final class Context {
        let id: AvahiObjectID
        let inbox: AvahiInbox

        init(id: AvahiObjectID, inbox: AvahiInbox) {
            self.id = id
            self.inbox = inbox
        }
    }

    private var pointer: OpaquePointer?
    private let free: (OpaquePointer) -> Void
    private let context: Unmanaged<Context>

    private init?(
        id: AvahiObjectID,
        inbox: AvahiInbox,
        free: @escaping (OpaquePointer) -> Void,
        make: (UnsafeMutableRawPointer) -> OpaquePointer?
    ) {
        context = .passRetained(Context(id: id, inbox: inbox))
        self.free = free
        pointer = make(context.toOpaque())
        if pointer == nil {
            context.release()
            return nil
        }
    }

    deinit {
        assert(pointer == nil, "an Avahi object was neither closed nor forgotten")
    }

    /// Lends the object; it must not be freed.
    func withPointer<Result>(_ body: (OpaquePointer) -> Result) -> Result {
        guard let pointer else { preconditionFailure("an Avahi object is used after its end") }
        return body(pointer)
    }

    /// Frees the object.
    func close() {
        guard let pointer else { return }
        free(pointer)
        forget()
    }

    /// Gives up the object that its client has freed.
    func forget() {
        guard pointer != nil else { return }
        pointer = nil
        context.release()
    }
}

extension AvahiHandle {
    /// Makes a client that waits for a daemon where there is none.
    ///
    /// - Returns: Nil where it could not be made; `code` says why.
    static func makeClient(
        _ id: AvahiObjectID,
        _ inbox: AvahiInbox,
        poll: UnsafePointer<AvahiPoll>,
        code: inout Int32
    ) -> AvahiHandle? {
        // It closes its connection to the bus first, so freeing the children sends nothing and cannot block.
        AvahiHandle(id: id, inbox: inbox, free: { avahi_client_free($0) }) { context in
            avahi_client_new(poll, AVAHI_CLIENT_NO_FAIL, clientChanged, context, &code)
        }
    }

    static func makeBrowser(
        _ id: AvahiObjectID,
        _ inbox: AvahiInbox,
        client: OpaquePointer,
        type: String
    ) -> AvahiHandle? {
        AvahiHandle(id: id, inbox: inbox, free: { avahi_service_browser_free($0) }) { context in
            avahi_service_browser_new(
                client,
                anyInterface,
                anyProtocol,
                type,
                nil,
                noLookupFlags,
                browserChanged,
                context
            )
        }
    }

    /// Makes a resolver for the address of the family that the service was heard over: an IPv4 address is not
    /// published over IPv6 by default, and asking for it would only wait.
    static func makeResolver(
        _ id: AvahiObjectID,
        _ inbox: AvahiInbox,
        client: OpaquePointer,
        type: String,
        key: ServiceKey
    ) -> AvahiHandle? {
        AvahiHandle(id: id, inbox: inbox, free: { avahi_service_resolver_free($0) }) { context in
            avahi_service_resolver_new(
                client,
                key.place.interface,
                key.place.family,
                key.instanceName,
                type,
                key.place.domain,
                key.place.family,
                noLookupFlags,
                resolverChanged,
                context
            )
        }
    }

    static func makeGroup(_ id: AvahiObjectID, _ inbox: AvahiInbox, client: OpaquePointer) -> AvahiHandle? {
        AvahiHandle(id: id, inbox: inbox, free: { avahi_entry_group_free($0) }) { context in
            avahi_entry_group_new(client, groupChanged, context)
        }
    }

    /// Fills an entry group with an announcement that was validated, and has the daemon probe its name.
    ///
    /// - Returns: An Avahi error code, 0 where it worked.
    func publish(_ announcement: ServiceAnnouncement, type: String) -> Int32 {
        var text: UnsafeMutablePointer<AvahiStringList>?
        for string in announcement.text {
            text = avahi_string_list_add_arbitrary(text, string, string.count)
        }
        defer { avahi_string_list_free(text) }
        return withPointer { group in
            let name = announcement.instanceName
            let added = avahi_entry_group_add_service_strlst(
                group,
                anyInterface,
                anyProtocol,
                noPublishFlags,
                name,
                type,
                nil,
                nil,
                announcement.port,
                text
            )
            return added < 0 ? added : avahi_entry_group_commit(group)
        }
    }
}

private let anyInterface = AvahiIfIndex(AVAHI_IF_UNSPEC)
private let anyProtocol = AvahiProtocol(AVAHI_PROTO_UNSPEC)
/// Always none: a wide-area flag kills the daemon of Debian 12 (CVE-2025-68276, CVE-2026-34933).
private let noLookupFlags = AvahiLookupFlags(rawValue: 0)
private let noPublishFlags = AvahiPublishFlags(rawValue: 0)

// MARK: Callbacks

private func withContext(_ userdata: UnsafeMutableRawPointer?, _ body: (AvahiHandle.Context) -> AvahiEvent?) {
    guard let userdata else { return }
    let context = Unmanaged<AvahiHandle.Context>.fromOpaque(userdata).takeUnretainedValue()
    if let event = body(context) { context.inbox.add(event) }
}

// It is called from inside `avahi_client_new` too, when no handle exists yet.
private func clientChanged(client: OpaquePointer?, state: AvahiClientState, userdata: UnsafeMutableRawPointer?) {
    withContext(userdata) { context in
        switch state {
        case AVAHI_CLIENT_CONNECTING: .clientChanged(context.id, .connecting)
        case AVAHI_CLIENT_S_RUNNING: .clientChanged(context.id, .running)
        case AVAHI_CLIENT_FAILURE: .failed(context.id, avahi_client_errno(client))
        default: .clientChanged(context.id, .registering)
        }
    }
}

private func groupChanged(group: OpaquePointer?, state: AvahiEntryGroupState, userdata: UnsafeMutableRawPointer?) {
    withContext(userdata) { context in
        switch state {
        case AVAHI_ENTRY_GROUP_ESTABLISHED: .established(context.id)
        case AVAHI_ENTRY_GROUP_COLLISION: .failed(context.id, Int32(AVAHI_ERR_COLLISION))
        case AVAHI_ENTRY_GROUP_FAILURE:
            .failed(context.id, avahi_client_errno(avahi_entry_group_get_client(group)))
        default: nil
        }
    }
}

private func browserChanged(
    browser: OpaquePointer?,
    interface: AvahiIfIndex,
    family: AvahiProtocol,
    event: AvahiBrowserEvent,
    name: UnsafePointer<CChar>?,
    type: UnsafePointer<CChar>?,
    domain: UnsafePointer<CChar>?,
    flags: AvahiLookupResultFlags,
    userdata: UnsafeMutableRawPointer?
) {
    withContext(userdata) { context in
        switch event {
        case AVAHI_BROWSER_NEW, AVAHI_BROWSER_REMOVE:
            guard let name, let domain else { return nil }
            let place = ServicePlace(interface: interface, family: family, domain: String(cString: domain))
            let key = ServiceKey(instanceName: String(cString: name), place: place)
            return event == AVAHI_BROWSER_NEW ? .appeared(context.id, key) : .disappeared(context.id, key)
        case AVAHI_BROWSER_ALL_FOR_NOW:
            return .allForNow(context.id)
        case AVAHI_BROWSER_FAILURE:
            return .failed(context.id, avahi_client_errno(avahi_service_browser_get_client(browser)))
        default:
            return nil
        }
    }
}

private func resolverChanged(
    resolver: OpaquePointer?,
    interface: AvahiIfIndex,
    family: AvahiProtocol,
    event: AvahiResolverEvent,
    name: UnsafePointer<CChar>?,
    type: UnsafePointer<CChar>?,
    domain: UnsafePointer<CChar>?,
    hostName: UnsafePointer<CChar>?,
    address: UnsafePointer<AvahiAddress>?,
    port: UInt16,
    text: UnsafeMutablePointer<AvahiStringList>?,
    flags: AvahiLookupResultFlags,
    userdata: UnsafeMutableRawPointer?
) {
    withContext(userdata) { context in
        guard event == AVAHI_RESOLVER_FOUND else {
            return .failed(context.id, avahi_client_errno(avahi_service_resolver_get_client(resolver)))
        }
        guard let hostName, let address = address?.pointee,
            let address = SocketAddress(address, port: port, interface: interface)
        else { return .failed(context.id, Int32(AVAHI_ERR_INVALID_ADDRESS)) }
        return .answered(
            context.id,
            ServiceAnswer(hostName: String(cString: hostName), address: address, text: copyText(text))
        )
    }
}

extension SocketAddress {
    fileprivate init?(_ address: AvahiAddress, port: UInt16, interface: AvahiIfIndex) {
        let length = address.proto == AVAHI_PROTO_INET ? 4 : 16
        let octets = withUnsafeBytes(of: address.data) { Array($0.prefix(length)) }
        self.init(octets: octets, port: port, interface: UInt32(clamping: interface))
    }
}

/// Copies a TXT record; of one that is too long to be a peer's nothing is kept.
private func copyText(_ list: UnsafeMutablePointer<AvahiStringList>?) -> [[UInt8]] {
    var strings: [[UInt8]] = []
    var size = 0
    var next = list
    while let current = next {
        let length = avahi_string_list_get_size(current)
        size += 1 + length
        guard size <= ServiceAnnouncement.textLimit else { return [] }
        strings.append(Array(UnsafeBufferPointer(start: avahi_string_list_get_text(current), count: length)))
        next = avahi_string_list_get_next(current)
    }
    return strings
}
