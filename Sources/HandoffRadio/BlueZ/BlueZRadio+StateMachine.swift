extension BlueZRadio {
    /// What is known of bluetoothd, and what follows from it: pure, time is passed in.
    struct StateMachine {
        /// Devices that carry a tag are remembered; strangers can invent any number of them.
        static let maximumDevices = 256

        private struct Adapter {
            var isPowered = false
            var isBlocked = false
            var canAdvertise = false
        }

        private struct Device {
            let tag: RadioPayload
            var rssi: Int?
        }

        private struct Registration: Equatable {
            let adapter: String
            let tag: RadioPayload
        }

        private enum Service {
            /// Not asked yet.
            case unknown
            case absent
            case starting
            case running
            case forbidden
        }

        private let isBlocked: @Sendable () -> Bool
        private var tag: RadioPayload?
        private var isListening = false

        private var service = Service.unknown
        private var adapters: [String: Adapter] = [:]
        private var devices: [String: Device] = [:]
        /// The adapter that listens, and why it does not.
        private var listener: String?
        private var isListenerConfirmed = false
        private var listenerFailure: RadioState?
        private var registration: Registration?
        private var hasRegistrationFailed = false
        private var emitted: RadioState?

        /// - Parameter isBlocked: Asks the kernel whether Bluetooth is switched off by rfkill.
        init(isBlocked: @escaping @Sendable () -> Bool) {
            self.isBlocked = isBlocked
        }

        mutating func setTag(_ tag: RadioPayload?) -> [BlueZAction] {
            self.tag = tag
            return settle()
        }

        mutating func setListening(_ isListening: Bool) -> [BlueZAction] {
            self.isListening = isListening
            return settle()
        }

        /// What undoes all that was asked for.
        mutating func stop() -> [BlueZAction] {
            (tag, isListening) = (nil, false)
            return settle().filter { if case .call = $0 { true } else { false } }
        }

        mutating func handle(_ event: BlueZEvent, now: Duration) -> [BlueZAction] {
            switch event {
            case .busLost, .owner(nil), .failed(.findOwner, _):
                forgetService()
                service = .absent
            case .owner:
                forgetService()
                service = .starting
                return [.call(.listObjects)] + settle()
            case .objects(let objects):
                service = .running
                for (path, interfaces) in objects { _ = add(path, interfaces, now: now) }
            case .failed(.listObjects, let error):
                service = Self.isForbidden(error) ? .forbidden : .absent
            case .added(let path, let interfaces):
                return add(path, interfaces, now: now) + settle()
            case .removed(let path, let interfaces):
                remove(path, interfaces)
            case .changed(let path, BlueZ.device, let properties, let invalidated):
                return hear(path, properties, invalidated, now: now) + settle()
            case .changed(let path, let interface, let properties, _):
                update(path, interface, properties)
            case .done(let call):
                if call == listener.map({ .startDiscovery(adapter: $0) }) { isListenerConfirmed = true }
            case .failed(let call, let error):
                note(error, of: call)
            case .released:
                hasRegistrationFailed = true
            }
            return settle()
        }

        private mutating func forgetService() {
            adapters = [:]
            forgetListener()
            registration = nil
            hasRegistrationFailed = false
        }

        private mutating func forgetListener() {
            devices = [:]
            listener = nil
            isListenerConfirmed = false
            listenerFailure = nil
        }

        /// Takes note of an object's interfaces.
        ///
        /// - Returns: A sample, where it is a device that was heard.
        private mutating func add(
            _ path: String,
            _ interfaces: [String: BusProperties],
            now: Duration
        ) -> [BlueZAction] {
            if interfaces[BlueZ.adapter] != nil { adapters[path] = adapters[path] ?? Adapter() }
            for (interface, properties) in interfaces { update(path, interface, properties) }
            return interfaces[BlueZ.device].map { hear(path, $0, [], now: now) } ?? []
        }

        private mutating func remove(_ path: String, _ interfaces: [String]) {
            for interface in interfaces {
                switch interface {
                case BlueZ.adapter:
                    adapters[path] = nil
                    if listener == path { forgetListener() }
                    if registration?.adapter == path { registration = nil }
                case BlueZ.advertisingManager: adapters[path]?.canAdvertise = false
                case BlueZ.device: devices[path] = nil
                default: break
                }
            }
        }

        private mutating func update(_ path: String, _ interface: String, _ properties: BusProperties) {
            switch interface {
            case BlueZ.adapter:
                if case .flag(let isPowered) = properties["Powered"] {
                    adapters[path]?.isPowered = isPowered
                    if isPowered { adapters[path]?.isBlocked = false }
                }
                if case .text(let state) = properties["PowerState"] {
                    adapters[path]?.isBlocked = state == "off-blocked"
                }
            case BlueZ.advertisingManager:
                adapters[path]?.canAdvertise = true
                // A slot may have become free.
                if case .number(1...) = properties["SupportedInstances"], hasRegistrationFailed { registration = nil }
            default: break
            }
        }

        /// Takes note of what a device said, and how strongly it was heard.
        ///
        /// An update has only what is new: without a strength it is the one before, without data it is the same data.
        private mutating func hear(
            _ path: String,
            _ properties: BusProperties,
            _ invalidated: [String],
            now: Duration
        ) -> [BlueZAction] {
            if case .table(let data) = properties["ServiceData"] {
                guard case .bytes(let bytes) = data[BlueZ.serviceUUID], let tag = RadioPayload(bytes) else {
                    devices[path] = nil
                    return []
                }
                // Who is let go is there again with the next thing it says.
                if devices[path] == nil, devices.count >= Self.maximumDevices { devices.remove(at: devices.startIndex) }
                devices[path] = Device(tag: tag, rssi: devices[path]?.rssi)
            }
            guard var device = devices[path] else { return [] }
            if invalidated.contains("RSSI") { device.rssi = nil }
            if case .number(let rssi) = properties["RSSI"] { device.rssi = (-127 ... -1).contains(rssi) ? rssi : nil }
            devices[path] = device
            // Another adapter may listen for another program.
            guard let listener, path.hasPrefix(listener + "/"), let rssi = device.rssi,
                properties["RSSI"] != nil || properties["ServiceData"] != nil
            else { return [] }
            // It listens, whether or not it has answered in time.
            (isListenerConfirmed, listenerFailure) = (true, nil)
            return [.emit(.sample(RadioSample(tag: device.tag, rssi: rssi, time: now)))]
        }

        private mutating func note(_ error: String, of call: BlueZCall) {
            switch call {
            case .startDiscovery(listener):
                // It is ours that is in progress: each client has one.
                if error == "org.bluez.Error.InProgress" { isListenerConfirmed = true } else { fail(error) }
            case .register(let adapter, let tag) where registration == Registration(adapter: adapter, tag: tag):
                hasRegistrationFailed = true
            default: break  // without a filter it hears less often, and what was to be undone is gone
            }
        }

        private mutating func fail(_ error: String) {
            listenerFailure =
                switch error {
                case _ where Self.isForbidden(error): .noPermission
                case "org.bluez.Error.NotReady": isBlocked() ? .blocked : .adapterOff
                case "org.freedesktop.DBus.Error.NoReply", "org.freedesktop.DBus.Error.Timeout": .noService
                default: .unsupported
                }
        }

        private static func isForbidden(_ error: String) -> Bool {
            ["org.freedesktop.DBus.Error.AccessDenied", "org.bluez.Error.NotAuthorized"].contains(error)
        }

        /// Does what is asked for and not done, and tells the state where it is another.
        private mutating func settle() -> [BlueZAction] {
            let usable = adapters.filter(\.value.isPowered).keys
            // The one in use stays, whichever come.
            let adapter =
                [listener, registration?.adapter].lazy.compactMap { $0 }.first(where: usable.contains)
                ?? usable.min()
            var actions = listen(by: isListening ? adapter : nil) + advertise(by: adapter)
            if let state = state(adapter), state != emitted {
                emitted = state
                actions.append(.emit(.state(state)))
            }
            return actions
        }

        private mutating func listen(by adapter: String?) -> [BlueZAction] {
            guard listener != adapter else { return [] }
            var actions: [BlueZAction] = []
            // Powering off has ended it already.
            if let listener, adapters[listener]?.isPowered == true {
                actions.append(.call(.stopDiscovery(adapter: listener)))
            }
            forgetListener()
            listener = adapter
            guard let adapter else { return actions }
            return actions + [.call(.filterDiscovery(adapter: adapter)), .call(.startDiscovery(adapter: adapter))]
        }

        private mutating func advertise(by adapter: String?) -> [BlueZAction] {
            var target: Registration?
            if let adapter, let tag, adapters[adapter]?.canAdvertise == true {
                target = Registration(adapter: adapter, tag: tag)
            }
            guard registration != target else { return [] }
            var actions: [BlueZAction] = []
            if let registration, registration.adapter != target?.adapter {
                actions.append(.call(.unregister(adapter: registration.adapter)))
            }
            registration = target
            hasRegistrationFailed = false
            guard let target else { return actions }
            // bluetoothd reads an advertisement once. One that outlived a power cycle would be in the way, too.
            actions.append(.call(.unregister(adapter: target.adapter)))
            return actions + [.call(.register(adapter: target.adapter, target.tag))]
        }

        /// What to tell; nil while that is being found out.
        private func state(_ adapter: String?) -> RadioState? {
            switch service {
            case .unknown, .starting: return nil
            case .absent: return .noService
            case .forbidden: return .noPermission
            case .running: break
            }
            if adapters.isEmpty { return .noAdapter }
            guard let adapter else {
                return adapters.values.contains(where: \.isBlocked) || isBlocked() ? .blocked : .adapterOff
            }
            if let listenerFailure { return listenerFailure }
            if listener != nil, !isListenerConfirmed { return nil }
            let isUnheard = tag != nil && (adapters[adapter]?.canAdvertise == false || hasRegistrationFailed)
            return isUnheard ? .unheard : .available
        }
    }
}
