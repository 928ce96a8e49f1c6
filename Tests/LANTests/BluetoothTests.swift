import HandoffRadio
import HandoffSupport
import Testing

/// The radio on a real message bus, with a service that plays bluetoothd; no radio is involved.
@Suite(.serialized, .timeLimit(.minutes(5)))
struct BluetoothTests {
    private static let uuid = BlueZRadio.serviceUUID

    private func with(
        hasAdapter: Bool = true,
        _ test: (Lab, FakeBluetooth, RunningRadio) async throws -> Void
    ) async throws {
        try await Lab.with(hosts: 1) { lab in
            let bluetooth = try await FakeBluetooth.start(in: lab, hasAdapter: hasAdapter)
            try await RunningRadio.with(bus: FakeBluetooth.busAddress(in: lab)) { running in
                try await test(lab, bluetooth, running)
            }
        }
    }

    @Test("A tag is advertised as service data; a new one takes its place, and the end takes it back")
    func advertising() async throws {
        try await Lab.with(hosts: 1) { lab in
            let bluetooth = try await FakeBluetooth.start(in: lab)
            try await RunningRadio.with(bus: FakeBluetooth.busAddress(in: lab)) { running in
                await running.radio.setTag(RadioPayload([1, 2, 3]))
                try await running.await(.available)
                try await bluetooth.service.line(holding: "advertising broadcast \(Self.uuid) 010203")
                await running.radio.setTag(RadioPayload([4, 5, 6]))
                try await bluetooth.service.line(holding: "silent 1")
                try await bluetooth.service.line(holding: "advertising broadcast \(Self.uuid) 040506")
                await running.radio.setListening(true)
                try await bluetooth.service.line(holding: "listening 1")
            }
            try await bluetooth.service.line(holding: "silent 2")
            try await bluetooth.service.line(holding: "deaf 1")
        }
    }

    @Test("Others are heard each time they say their tag, by every change of the signal")
    func listening() async throws {
        try await with { _, bluetooth, running in
            await running.radio.setListening(true)
            try await bluetooth.service.line(holding: "filter DuplicateData=1 RSSI=-127 Transport=le")
            try await running.await(.available)
            try await bluetooth.hear("0102030405060708", rssi: -60)
            #expect(try await running.nextSample().rssi == -60)
            try await bluetooth.hear("0102030405060708", rssi: -60)
            #expect(try await running.nextSample().rssi == -60)
            try await bluetooth.hear("00", rssi: -50, under: "0000180f-0000-1000-8000-00805f9b34fb")
            try await bluetooth.hear("0102030405060708", rssi: -61)
            let sample = try await running.nextSample()
            #expect(sample.rssi == -61)
            #expect(sample.tag == RadioPayload([1, 2, 3, 4, 5, 6, 7, 8]))
        }
    }

    @Test("A service that is restarted is asked for everything again")
    func serviceRestart() async throws {
        try await with { lab, bluetooth, running in
            await running.radio.setTag(RadioPayload([1, 2, 3]))
            await running.radio.setListening(true)
            try await running.await(.available)
            bluetooth.service.kill()
            try await running.await(.noService)
            let next = try await FakeBluetooth.start(in: lab)
            try await running.await(.available)
            try await next.service.line(holding: "listening 1")
            try await next.service.line(holding: "advertising broadcast \(Self.uuid) 010203")
        }
    }

    @Test("An adapter may come late, be switched off and on, and go")
    func adapters() async throws {
        try await with(hasAdapter: false) { _, bluetooth, running in
            await running.radio.setListening(true)
            try await running.await(.noAdapter)
            let name = "string:\(FakeBluetooth.adapter)"
            try await bluetooth.tell("Plug", name, "boolean:true", "boolean:true")
            try await running.await(.available)
            try await bluetooth.tell("Power", name, "boolean:false")
            try await running.await(.adapterOff)
            try await bluetooth.tell("Power", name, "boolean:true")
            try await running.await(.available)
            try await bluetooth.service.line(holding: "listening 2")
            try await bluetooth.tell("Unplug", name)
            try await running.await(.noAdapter)
        }
    }

    @Test("Why others are not heard, or do not hear us, is told")
    func failures() async throws {
        try await with(hasAdapter: false) { _, bluetooth, running in
            let name = "string:\(FakeBluetooth.adapter)"
            await running.radio.setListening(true)
            await running.radio.setTag(RadioPayload([1, 2, 3]))
            for (error, state) in [
                ("org.freedesktop.DBus.Error.AccessDenied", RadioState.noPermission),
                ("org.bluez.Error.Failed", .unsupported),
            ] {
                try await bluetooth.tell("Fail", "string:StartDiscovery", "string:\(error)")
                try await bluetooth.tell("Plug", name, "boolean:true", "boolean:true")
                try await running.await(state)
                try await bluetooth.tell("Unplug", name)
                try await running.await(.noAdapter)
            }
            try await bluetooth.tell("Fail", "string:StartDiscovery", "string:")
            let full = "string:org.bluez.Error.NotPermitted"
            try await bluetooth.tell("Fail", "string:RegisterAdvertisement", full)
            try await bluetooth.tell("Plug", name, "boolean:true", "boolean:true")
            try await running.await(.unheard)
            try await bluetooth.tell("Fail", "string:RegisterAdvertisement", "string:")
            try await bluetooth.tell("Free", name, "byte:1")
            try await running.await(.available)
            try await bluetooth.tell("Release", name)
            try await running.await(.unheard)
        }
    }

    @Test("A bus that comes late, or is restarted, is found")
    func busRestart() async throws {
        try await Lab.with(hosts: 1) { lab in
            try await lab.control("daemon", "a", "dbus", "kill")
            try await RunningRadio.with(bus: FakeBluetooth.busAddress(in: lab)) { running in
                await running.radio.setListening(true)
                try await running.await(.noService)
                for _ in 1...2 {
                    try await lab.control("daemon", "a", "dbus", "start")
                    _ = try await FakeBluetooth.start(in: lab)
                    try await running.await(.available)
                    try await lab.control("daemon", "a", "dbus", "kill")
                    try await running.await(.noService)
                }
            }
        }
    }

    @Test("A bus that hangs is no service until it answers")
    func silentBus() async throws {
        try await Lab.with(hosts: 1) { lab in
            _ = try await FakeBluetooth.start(in: lab)
            try await lab.control("daemon", "a", "dbus", "pause")
            try await RunningRadio.with(bus: FakeBluetooth.busAddress(in: lab)) { running in
                try await running.await(.noService)
                try await lab.control("daemon", "a", "dbus", "resume")
                try await running.await(.available)
            }
        }
    }

    @Test("A bus that hangs does not hold up the end")
    func hangingBus() async throws {
        try await Lab.with(hosts: 1) { lab in
            let bluetooth = try await FakeBluetooth.start(in: lab)
            try await RunningRadio.with(bus: FakeBluetooth.busAddress(in: lab)) { running in
                await running.radio.setListening(true)
                try await running.await(.available)
                try await lab.control("daemon", "a", "dbus", "pause")
                await running.radio.setTag(RadioPayload([1]))
            }
            try await lab.control("daemon", "a", "dbus", "resume")
            try await bluetooth.service.line(holding: "deaf 1")
        }
    }
}
