import Dispatch
import Glibc
public import HandoffSupport

/// Bluetooth Low Energy through bluetoothd (BlueZ), on the system's message bus.
///
/// The tag is advertised as service data, with nothing else and without connections; others are heard by a scan that
/// tells each strength. bluetoothd and adapters may come and go: signals of the bus tell it, and what was asked for is
/// asked for again.
public actor BlueZRadio: RadioSource {
    /// The UUID that the tag stands under.
    public static let serviceUUID = BlueZ.serviceUUID

    /// What happened; for one consumer.
    public nonisolated let events = RadioEvents()

    private let executor = QueueExecutor(label: "handoff.bluetooth")
    private let address: String
    private let clock: MonotonicClock
    private let log: Log
    private var machine: StateMachine
    private var bus: BusConnection?
    private var isRunning = false
    /// Whether the bus has said anything on this connection.
    private var isAnswered = false
    private var backoff = Backoff(first: .milliseconds(200), limit: .seconds(300))
    /// When to connect again, or to wait no longer for a first answer.
    private var retry: Alarm

    /// Makes a radio that does nothing yet.
    ///
    /// - Parameters:
    ///   - busAddress: The message bus's address; nil for the system's, which `DBUS_SYSTEM_BUS_ADDRESS` names where it
    ///     is set.
    ///   - clock: What samples are timed by.
    ///   - log: Told of changes at level debug.
    public init(busAddress: String? = nil, clock: MonotonicClock = .system, log: Log = .none) {
        address = busAddress ?? Self.systemAddress
        self.clock = clock
        self.log = log
        machine = StateMachine(isBlocked: { RadioSwitch.isBluetoothBlocked() })
        retry = Alarm(clock: clock)
    }

    /// The radio's own queue, which the bus is used on.
    public nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    /// Does the work until the task is cancelled; then stops listening, takes the tag back and returns.
    public func run() async {
        isRunning = true
        connect()
        // Nothing is ever sent there: it ends when the task is cancelled.
        _ = try? await BoundedChannel<Void>(capacity: 1).next()
        isRunning = false
        retry.cancel()
        // bluetoothd also ends both where the connection does, so nobody waits for its answers.
        perform(machine.stop())
        bus?.close()
        bus = nil
        events.finish()
    }

    /// Says what others are to hear of this machine.
    public func setTag(_ tag: RadioPayload?) {
        perform(machine.setTag(tag))
    }

    /// Says whether to listen to others.
    public func setListening(_ isListening: Bool) {
        perform(machine.setListening(isListening))
    }

    private func connect() {
        guard isRunning, bus == nil else { return }
        do {
            let bus = try BusConnection(address: address, queue: executor.queue) { [weak self] in
                self?.assumeIsolated { radio in radio.process() }
            }
            self.bus = bus
            isAnswered = false
            if bus.isSocketThere {
                retry.set(at: clock.now + BusConnection.answerLimit) { [weak self] in await self?.hearNothing() }
            } else {
                handle(.busLost)
            }
            process()
        } catch {
            log(.debug, "the message bus cannot be used", ["reason": error.description])
            handle(.busLost)
            reconnectLater()
        }
    }

    private func process() {
        guard let bus else { return }
        for event in bus.process() {
            if case .busLost = event {
                bus.close()
                self.bus = nil
                reconnectLater()
            } else {
                isAnswered = true
                backoff.reset()
                retry.cancel()
            }
            handle(event)
        }
    }

    /// The bus takes connections and says nothing; it may do so yet.
    private func hearNothing() {
        if !isAnswered { handle(.busLost) }
    }

    /// Tries again after a pause: a bus that takes connections and ends them must not keep us busy.
    private func reconnectLater() {
        var generator = SystemRandomNumberGenerator()
        retry.set(at: clock.now + backoff.pause(using: &generator)) { [weak self] in await self?.connect() }
    }

    private func handle(_ event: BlueZEvent) {
        perform(machine.handle(event, now: clock.now))
    }

    private func perform(_ actions: [BlueZAction]) {
        for action in actions {
            switch action {
            case .call(let call): bus?.send(call)
            case .emit(let event):
                if case .state(let state) = event { log(.debug, "Bluetooth has changed", ["state": state.description]) }
                events.post(event)
            }
        }
    }

    private static var systemAddress: String {
        getenv("DBUS_SYSTEM_BUS_ADDRESS").map { String(cString: $0) } ?? "unix:path=/run/dbus/system_bus_socket"
    }
}
