/// The part of bluetoothd's interface on D-Bus that is used (doc/*-api.txt of BlueZ 5.66).
enum BlueZ {
    static let name = "org.bluez"
    static let adapter = "org.bluez.Adapter1"
    static let device = "org.bluez.Device1"
    static let advertisingManager = "org.bluez.LEAdvertisingManager1"
    static let advertisement = "org.bluez.LEAdvertisement1"
    /// Where our advertisement is on the bus.
    static let advertisementPath = "/org/handoff/advertisement"
    /// Under which the tag stands among an advertisement's service data; drawn at random for this purpose alone.
    static let serviceUUID = "8b1f7a52-5e0c-4d6b-9d3a-6f2c41e07a95"

    /// The properties that are looked at; a device has many more, and strangers may fill them.
    static let wanted: [String: Set<String>] = [
        adapter: ["Powered", "PowerState"],
        device: ["RSSI", "ServiceData"],
        advertisingManager: ["SupportedInstances"],
    ]
}

/// A value of a property, as far as one is looked at.
enum BusValue: Hashable, Sendable {
    case flag(Bool)
    case number(Int)
    case text(String)
    case bytes([UInt8])
    case table([String: BusValue])
    case other
}

/// Properties by their names.
typealias BusProperties = [String: BusValue]

/// What bluetoothd is asked for.
enum BlueZCall: Hashable, Sendable {
    /// To whom its name on the bus belongs; asked of the bus itself.
    case findOwner
    case listObjects
    case filterDiscovery(adapter: String)
    case startDiscovery(adapter: String)
    case stopDiscovery(adapter: String)
    case register(adapter: String, RadioPayload)
    case unregister(adapter: String)
}

/// What comes from the bus.
enum BlueZEvent: Hashable, Sendable {
    /// There is no bus, or it is gone.
    case busLost
    /// bluetoothd is at this address of the bus, or nowhere.
    case owner(String?)
    /// All objects there are, in answer to `listObjects`.
    case objects([String: [String: BusProperties]])
    case added(path: String, [String: BusProperties])
    case removed(path: String, interfaces: [String])
    case changed(path: String, interface: String, BusProperties, invalidated: [String])
    /// A call was answered.
    case done(BlueZCall)
    /// A call was refused, or not answered in time; with the error's name.
    case failed(BlueZCall, String)
    /// bluetoothd has dropped our advertisement.
    case released
}

/// What is to be done.
enum BlueZAction: Hashable, Sendable {
    case call(BlueZCall)
    case emit(RadioEvent)
}
