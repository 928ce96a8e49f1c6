import CSystemd
import Dispatch
import Glibc
import HandoffSupport

/// A connection to the system's message bus; it belongs to one queue.
///
/// sd-bus does the talking and never waits; Dispatch tells when it has something to do. Where there is no bus, the kernel
/// tells (inotify) when its socket appears, and nobody is woken before. Callbacks only leave events in the inbox; what
/// follows from them is done after sd-bus has returned. `close` frees the connection, and with it all its callbacks.
final class BusConnection {
    /// The longest that anything on the bus may take to answer.
    static let answerLimit = Duration.seconds(5)
    /// So many messages are taken in a row before others on the queue get their turn.
    private static let turn = 64

    private let bus: OpaquePointer
    private let queue: DispatchQueue
    private let onReady: @Sendable () -> Void
    private let watch: BusWatch
    private var pending: [UInt64: BlueZCall] = [:]
    private var inbox: [BlueZEvent] = []
    /// bluetoothd's own address on the bus: what comes from elsewhere is not its word.
    private var owner: String?
    private var advertised: RadioPayload?
    private var isClosed = false

    /// Begins to connect, or to wait for the bus.
    ///
    /// - Parameters:
    ///   - address: The bus's address (D-Bus specification, "Server addresses").
    ///   - queue: Where every call is made.
    ///   - onReady: Called there when `process` has something to do.
    /// - Throws: `SystemError`.
    init(address: String, queue: DispatchQueue, onReady: @escaping @Sendable () -> Void) throws(SystemError) {
        var bus: OpaquePointer?
        let code = sd_bus_new(&bus)
        guard code >= 0, let bus else { throw SystemError("use the message bus", code: -code) }
        self.bus = bus
        self.queue = queue
        self.onReady = onReady
        watch = BusWatch(bus: bus, queue: queue, onReady: onReady)
        do throws(SystemError) {
            try check(sd_bus_set_address(bus, address))
            try check(sd_bus_set_bus_client(bus, 1))
            try check(sd_bus_set_watch_bind(bus, 1))
            try check(sd_bus_set_method_call_timeout(bus, UInt64(Self.answerLimit / .microseconds(1))))
            try check(sd_bus_start(bus))
            try subscribe()
        } catch {
            close()
            throw error
        }
    }

    deinit {
        assert(isClosed, "a bus connection was not closed")
    }

    /// True where the bus's socket is there.
    var isSocketThere: Bool { isSocket(sd_bus_get_fd(bus)) }

    /// Handles what has come in.
    ///
    /// - Returns: What it was; the last is `busLost` where the connection is over, and is to be closed.
    func process() -> [BlueZEvent] {
        guard !isClosed else { return [] }
        for _ in 0..<Self.turn {
            let result = sd_bus_process(bus, nil)
            if result == 0 {
                watch.update()
                return take()
            }
            if result < 0 {
                // Whatever was not answered is not going to be.
                inbox = [.busLost]
                return take()
            }
        }
        queue.async(execute: onReady)
        return take()
    }

    /// Sends a call; its answer comes as an event.
    func send(_ call: BlueZCall) {
        do throws(SystemError) {
            if case .register(_, let tag) = call { advertised = tag }
            let message = try make(call)
            defer { sd_bus_message_unref(message) }
            try check(sd_bus_call_async(bus, nil, message, callAnswered, context, 0))
            var cookie: UInt64 = 0
            try check(sd_bus_message_get_cookie(message, &cookie))
            pending[cookie] = call
        } catch {
            inbox.append(.failed(call, error.description))
            queue.async(execute: onReady)
        }
        watch.update()
    }

    /// Ends the connection; what was asked for on it ends, too.
    func close() {
        guard !isClosed else { return }
        isClosed = true
        watch.cancel()
        sd_bus_close_unref(bus)
    }

    private func take() -> [BlueZEvent] {
        defer { inbox = [] }
        return inbox
    }
}

// MARK: - What is said

extension BusConnection {
    private var context: UnsafeMutableRawPointer { Unmanaged.passUnretained(self).toOpaque() }

    private func subscribe() throws(SystemError) {
        let rules = [
            "type='signal',sender='org.freedesktop.DBus',interface='org.freedesktop.DBus',"
                + "member='NameOwnerChanged',arg0='\(BlueZ.name)'",
            "type='signal',sender='\(BlueZ.name)',interface='org.freedesktop.DBus.ObjectManager'",
            "type='signal',sender='\(BlueZ.name)',interface='org.freedesktop.DBus.Properties'",
        ]
        for rule in rules { try check(sd_bus_add_match_async(bus, nil, rule, signalCame, nil, context)) }
        try check(sd_bus_add_object(bus, nil, BlueZ.advertisementPath, advertisementCalled, context))
        send(.findOwner)
    }

    private func make(_ call: BlueZCall) throws(SystemError) -> OpaquePointer {
        let manager = "org.freedesktop.DBus.ObjectManager"
        let (path, interface, member) =
            switch call {
            case .findOwner: ("/org/freedesktop/DBus", "org.freedesktop.DBus", "GetNameOwner")
            case .listObjects: ("/", manager, "GetManagedObjects")
            case .filterDiscovery(let adapter): (adapter, BlueZ.adapter, "SetDiscoveryFilter")
            case .startDiscovery(let adapter): (adapter, BlueZ.adapter, "StartDiscovery")
            case .stopDiscovery(let adapter): (adapter, BlueZ.adapter, "StopDiscovery")
            case .register(let adapter, _): (adapter, BlueZ.advertisingManager, "RegisterAdvertisement")
            case .unregister(let adapter): (adapter, BlueZ.advertisingManager, "UnregisterAdvertisement")
            }
        let destination = call == .findOwner ? "org.freedesktop.DBus" : BlueZ.name
        var made: OpaquePointer?
        try check(sd_bus_message_new_method_call(bus, &made, destination, path, interface, member))
        guard let message = made else { throw SystemError("use the message bus", code: ENOMEM) }
        // Whether bluetoothd runs is for others to say.
        sd_bus_message_set_auto_start(message, 0)
        let writer = BusWriter(message)
        switch call {
        case .findOwner: writer.text(BlueZ.name)
        case .filterDiscovery:
            // With a strength in the filter each change of it is told, not only those of 8 dB and more. No UUIDs: they
            // would have to be advertised beside the data, and there is no room for both.
            writer.properties(["Transport": .text("le"), "RSSI": .number(-127), "DuplicateData": .flag(true)])
        case .register:
            writer.text(BlueZ.advertisementPath, "o")
            writer.properties([:])
        case .unregister: writer.text(BlueZ.advertisementPath, "o")
        case .listObjects, .startDiscovery, .stopDiscovery: break
        }
        return message
    }

    fileprivate func answer(_ message: OpaquePointer) {
        var cookie: UInt64 = 0
        guard sd_bus_message_get_reply_cookie(message, &cookie) >= 0, let call = pending.removeValue(forKey: cookie)
        else { return }
        if let error = sd_bus_message_get_error(message)?.pointee.name {
            return inbox.append(.failed(call, String(cString: error)))
        }
        switch call {
        case .findOwner: own(BusReader(message).text())
        case .listObjects: inbox.append(BusReader(message).objects().map { .objects($0) } ?? .failed(call, "malformed"))
        default: inbox.append(.done(call))
        }
    }

    private func own(_ name: String?) {
        // An answer may be older than a signal, and both say the same.
        guard name != owner || name == nil else { return }
        owner = name
        inbox.append(.owner(name))
    }

    private func isFromOwner(_ message: OpaquePointer) -> Bool {
        sd_bus_message_get_sender(message).map { String(cString: $0) } == owner && owner != nil
    }

    fileprivate func hear(_ message: OpaquePointer) {
        let reader = BusReader(message)
        let member = sd_bus_message_get_member(message).map { String(cString: $0) }
        if member == "NameOwnerChanged" {
            guard reader.text() == BlueZ.name, reader.text() != nil, let name = reader.text() else { return }
            return own(name.isEmpty ? nil : name)
        }
        guard isFromOwner(message), let path = sd_bus_message_get_path(message).map({ String(cString: $0) }) else {
            return
        }
        switch member {
        case "InterfacesAdded":
            guard let path = reader.text("o"), let interfaces = reader.interfaces() else { return }
            if !interfaces.isEmpty { inbox.append(.added(path: path, interfaces)) }
        case "InterfacesRemoved":
            guard let path = reader.text("o"), let interfaces = reader.texts() else { return }
            inbox.append(.removed(path: path, interfaces: interfaces))
        case "PropertiesChanged":
            guard let interface = reader.text(), let wanted = BlueZ.wanted[interface],
                let properties = reader.properties(wanted), let invalidated = reader.texts()
            else { return }
            inbox.append(.changed(path: path, interface: interface, properties, invalidated: invalidated))
        default: break
        }
    }

    /// Answers bluetoothd's questions about our advertisement.
    fileprivate func serve(_ message: OpaquePointer) -> CInt {
        guard isFromOwner(message) else { return 0 }
        let isQuestion = sd_bus_message_is_method_call(message, "org.freedesktop.DBus.Properties", "GetAll") > 0
        guard isQuestion || sd_bus_message_is_method_call(message, BlueZ.advertisement, "Release") > 0 else { return 0 }
        var reply: OpaquePointer?
        let code = sd_bus_message_new_method_return(message, &reply)
        guard let reply else { return code }
        defer { sd_bus_message_unref(reply) }
        if isQuestion {
            let data = advertised.map { [BlueZ.serviceUUID: BusValue.bytes($0.bytes)] } ?? [:]
            BusWriter(reply).properties(["Type": .text("broadcast"), "ServiceData": .table(data)])
        } else {
            inbox.append(.released)
        }
        return sd_bus_send(bus, reply, nil)
    }

    private func check(_ code: CInt) throws(SystemError) {
        guard code >= 0 else { throw SystemError("use the message bus", code: -code) }
    }
}

// MARK: - Callbacks

private func connection(_ userdata: UnsafeMutableRawPointer?) -> BusConnection? {
    // It closes the bus, which ends the callbacks, before it goes.
    userdata.map { Unmanaged<BusConnection>.fromOpaque($0).takeUnretainedValue() }
}

private func callAnswered(
    message: OpaquePointer?,
    userdata: UnsafeMutableRawPointer?,
    error: UnsafeMutablePointer<sd_bus_error>?
) -> CInt {
    if let message { connection(userdata)?.answer(message) }
    return 0
}

private func signalCame(
    message: OpaquePointer?,
    userdata: UnsafeMutableRawPointer?,
    error: UnsafeMutablePointer<sd_bus_error>?
) -> CInt {
    if let message { connection(userdata)?.hear(message) }
    return 0
}

private func advertisementCalled(
    message: OpaquePointer?,
    userdata: UnsafeMutableRawPointer?,
    error: UnsafeMutablePointer<sd_bus_error>?
) -> CInt {
    message.flatMap { connection(userdata)?.serve($0) } ?? 0
}
