import HandoffRadio
import HandoffSupport

/// A Bluetooth service without Bluetooth on the bus of a lab's first host (Tests/radio/bluetoothd.py).
struct FakeBluetooth {
    static let adapter = "hci0"

    private let lab: Lab
    /// It prints what it is asked for.
    let service: RunningCommand

    /// Starts the service.
    ///
    /// - Parameter hasAdapter: Whether an adapter is there from the start.
    static func start(in lab: Lab, hasAdapter: Bool = true) async throws -> FakeBluetooth {
        let parameters = hasAdapter ? #"{"adapter": "\#(adapter)"}"# : "{}"
        let template = ["-B", "-m", "dbusmock", "--template", "Tests/radio/bluetoothd.py", "--parameters", parameters]
        let service = try lab.launch(["Tests/lan/lab", "exec", "a", "/usr/bin/python3"] + template)
        try await service.line(holding: "ready")
        return FakeBluetooth(lab: lab, service: service)
    }

    /// The address of the host's bus.
    static func busAddress(in lab: Lab) -> String { "unix:path=\(lab.directory)/a/bus" }

    /// Does something to the service: `tell("Power", "string:hci0", "boolean:false")`.
    func tell(_ method: String, _ arguments: String...) async throws {
        let call = ["dbus-send", "--system", "--print-reply", "--dest=org.bluez", "/", "org.bluez.Mock.\(method)"]
        let outcome = try await lab.launch(["Tests/lan/lab", "exec", "a"] + call + arguments).outcome()
        guard outcome.status == 0 else { throw CommandProblem(description: "\(method): \(outcome)") }
    }

    /// An advertisement is received.
    func hear(
        _ data: String,
        rssi: Int,
        from device: String = "AA:BB:CC:DD:EE:FF",
        under uuid: String = BlueZRadio.serviceUUID
    ) async throws {
        let words = [Self.adapter, device, uuid, data, String(rssi)].map { "string:\($0)" }
        try await tell("Hear", words[0], words[1], words[2], words[3], words[4])
    }
}

/// A radio that works.
struct RunningRadio {
    let radio: BlueZRadio

    /// Runs a radio for as long as a test takes, and then has it end.
    static func with(bus address: String, _ test: (RunningRadio) async throws -> Void) async throws {
        let radio = BlueZRadio(busAddress: address)
        let running = Task { await radio.run() }  // cancelled below, whatever comes of the test
        let outcome: Result<Void, any Error>
        do {
            outcome = .success(try await test(RunningRadio(radio: radio)))
        } catch {
            outcome = .failure(error)
        }
        running.cancel()
        let late = CommandProblem(description: "the radio does not end")
        try await withDeadline(.seconds(20), clock: .system, timeoutError: late) { await running.value }
        try outcome.get()
    }

    /// Waits until it tells a state; others may come before.
    func await(_ state: RadioState) async throws {
        _ = try await find("\(state)") { $0 == .state(state) ? state : nil }
    }

    /// Waits for the next sample.
    func nextSample() async throws -> RadioSample {
        try await find("a sample") { event in
            if case .sample(let sample) = event { sample } else { nil }
        }
    }

    private func find<Value: Sendable>(
        _ what: String,
        _ read: @escaping @Sendable (RadioEvent) -> Value?
    ) async throws -> Value {
        let problem = CommandProblem(description: "the radio does not tell: \(what)")
        return try await withDeadline(.seconds(20), clock: .system, timeoutError: problem) { [radio] in
            while let event = try await radio.events.next() {
                if let value = read(event) { return value }
            }
            throw problem
        }
    }
}
