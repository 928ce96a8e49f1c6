/// Is heard by other machines over a radio, and hears them.
///
/// Whatever it tells is a hint that anybody in reach may have forged or passed on: it orders peers that are paired
/// already, and grants nothing.
public protocol RadioSource: Sendable {
    /// What happened, for one consumer; the sequence ends when `run` does.
    var events: RadioEvents { get }

    /// Does the work until the task is cancelled; then stops listening, takes the tag back and returns.
    ///
    /// To be called once. A radio that cannot be used does not end it: that is told as an event, and another one follows
    /// as soon as it can. Nothing is asked for again and again meanwhile.
    func run() async

    /// Says what others are to hear of this machine, in place of what they heard before.
    ///
    /// - Parameter tag: Nil for nothing. It should change as often as its maker says, so that nobody follows it.
    func setTag(_ tag: RadioPayload?) async

    /// Says whether to listen to others, which takes power and air time: only while somebody wants to know.
    func setListening(_ isListening: Bool) async
}

/// The bytes that a machine is known by over the radio: 1 to 10.
public struct RadioPayload: Hashable, Sendable {
    /// The most bytes: what the 31 of an advertisement (Bluetooth Core 5.3, volume 3, part C, 11) leave beside a
    /// 128-bit UUID and three bytes of flags.
    public static let maximumSize = 10

    /// The bytes.
    public let bytes: [UInt8]

    /// Takes the bytes.
    ///
    /// - Returns: Nil where there are none or too many.
    public init?(_ bytes: [UInt8]) {
        guard (1...Self.maximumSize).contains(bytes.count) else { return nil }
        self.bytes = bytes
    }
}

/// How strongly a machine was heard.
public struct RadioSample: Hashable, Sendable {
    /// What it said; anybody may say it.
    public let tag: RadioPayload
    /// The received signal strength in dBm, -127 to -1.
    public let rssi: Int
    /// When it was heard, on the source's clock.
    public let time: Duration

    /// Records a sample.
    public init(tag: RadioPayload, rssi: Int, time: Duration) {
        self.tag = tag
        self.rssi = rssi
        self.time = time
    }
}

/// What a radio tells.
public enum RadioEvent: Hashable, Sendable {
    /// Whether the radio can be used has changed.
    case state(RadioState)
    /// A machine was heard.
    case sample(RadioSample)
}

/// Whether a radio can be used, and else why latency alone has to do.
public enum RadioState: Hashable, Sendable, CaseIterable, CustomStringConvertible {
    /// It does what was asked of it.
    case available
    /// It hears others, and is not heard: the adapter cannot advertise, or others have taken all it can.
    case unheard
    /// There is no adapter.
    case noAdapter
    /// The adapter is switched off.
    case adapterOff
    /// The adapter is switched off by rfkill, a key or an airplane mode.
    case blocked
    /// The system does not let this user use it.
    case noPermission
    /// The service that drives it does not run, or does not answer.
    case noService
    /// The adapter or its driver cannot do what is needed.
    case unsupported

    /// What is the matter and what to do next, as one line for the user.
    public var description: String {
        switch self {
        case .available: "Bluetooth is in use"
        case .unheard: "the Bluetooth adapter hears others but cannot advertise: another program may use all its slots"
        case .noAdapter: "there is no Bluetooth adapter"
        case .adapterOff: "Bluetooth is off: run bluetoothctl power on"
        case .blocked: "Bluetooth is blocked: run rfkill unblock bluetooth"
        case .noPermission: "this user may not use Bluetooth: see /etc/dbus-1/system.d/bluetooth.conf"
        case .noService: "bluetoothd does not run: install bluez, and run systemctl start bluetooth"
        case .unsupported: "the Bluetooth adapter cannot scan for Bluetooth Low Energy"
        }
    }
}
