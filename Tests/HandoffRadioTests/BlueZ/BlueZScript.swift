import Testing

@testable import HandoffRadio

/// Plays bluetoothd: feeds the machine events and keeps account of what it asks for and tells.
struct BlueZScript {
    static let adapter = "/org/bluez/hci0"
    static let device = "/org/bluez/hci0/dev_1"
    static let tag = RadioPayload([1, 2, 3, 4, 5, 6, 7, 8])

    var machine: BlueZRadio.StateMachine
    var now = Duration.zero
    /// What was asked for since it was last looked at.
    private(set) var calls: [BlueZCall] = []
    private(set) var states: [RadioState] = []
    private(set) var samples: [RadioSample] = []

    init(isBlocked: Bool = false) {
        machine = BlueZRadio.StateMachine(isBlocked: { isBlocked })
    }

    mutating func report(_ event: BlueZEvent) { take(machine.handle(event, now: now)) }

    mutating func tag(_ tag: RadioPayload?) { take(machine.setTag(tag)) }

    mutating func listen(_ isListening: Bool = true) { take(machine.setListening(isListening)) }

    mutating func stop() { take(machine.stop()) }

    mutating func takeCalls() -> [BlueZCall] {
        defer { calls = [] }
        return calls
    }

    /// bluetoothd is there and has one adapter.
    mutating func start(isPowered: Bool = true, canAdvertise: Bool = true) {
        report(.owner(":1.7"))
        report(.objects([Self.adapter: Self.interfaces(isPowered: isPowered, canAdvertise: canAdvertise)]))
    }

    /// The same, and it does whatever it is asked for.
    mutating func startListening() {
        listen()
        start()
        report(.done(.startDiscovery(adapter: Self.adapter)))
        calls = []
    }

    mutating func power(_ isOn: Bool) {
        let properties: BusProperties = ["Powered": .flag(isOn)]
        report(.changed(path: Self.adapter, interface: BlueZ.adapter, properties, invalidated: []))
    }

    /// A device says something.
    mutating func hear(_ bytes: [UInt8]?, rssi: Int?, device: String = Self.device) {
        var properties: BusProperties = [:]
        if let bytes { properties["ServiceData"] = .table([BlueZ.serviceUUID: .bytes(bytes)]) }
        if let rssi { properties["RSSI"] = .number(rssi) }
        report(.changed(path: device, interface: BlueZ.device, properties, invalidated: []))
    }

    static func interfaces(isPowered: Bool, canAdvertise: Bool = true) -> [String: BusProperties] {
        var interfaces: [String: BusProperties] = [BlueZ.adapter: ["Powered": .flag(isPowered)]]
        if canAdvertise { interfaces[BlueZ.advertisingManager] = ["SupportedInstances": .number(4)] }
        return interfaces
    }

    private mutating func take(_ actions: [BlueZAction]) {
        for action in actions {
            switch action {
            case .call(let call): calls.append(call)
            case .emit(.state(let state)): states.append(state)
            case .emit(.sample(let sample)): samples.append(sample)
            }
        }
    }
}
