import Testing

@testable import HandoffRadio

/// What the radio asks bluetoothd for, and what state it tells.
struct BlueZStateTests {
    private static let adapter = BlueZScript.adapter
    private static let listening: [BlueZCall] = [.filterDiscovery(adapter: adapter), .startDiscovery(adapter: adapter)]

    @Test("Without a bus, and without bluetoothd on it, there is no service")
    func noService() {
        let nobody = "org.freedesktop.DBus.Error.NameHasNoOwner"
        for event in [BlueZEvent.busLost, .owner(nil), .failed(.findOwner, nobody)] {
            var script = BlueZScript()
            script.report(event)
            #expect(script.states == [.noService])
        }
    }

    @Test("No state is told before it is known")
    func unknown() {
        var script = BlueZScript()
        script.listen()
        script.report(.owner(":1.7"))
        #expect(script.states.isEmpty)
        #expect(script.takeCalls() == [.listObjects])
        script.report(.objects([Self.adapter: BlueZScript.interfaces(isPowered: true)]))
        #expect(script.states.isEmpty)
        script.report(.done(.startDiscovery(adapter: Self.adapter)))
        #expect(script.states == [.available])
    }

    @Test("Nothing is asked of an adapter that nobody wants to use")
    func idle() {
        var script = BlueZScript()
        script.start()
        #expect(script.takeCalls() == [.listObjects])
        #expect(script.states == [.available])
    }

    @Test("Each state of an adapter has its name")
    func adapterStates() {
        var none = BlueZScript()
        none.report(.owner(":1.7"))
        none.report(.objects([:]))
        #expect(none.states == [.noAdapter])

        var off = BlueZScript()
        off.start(isPowered: false)
        #expect(off.states == [.adapterOff])

        var blocked = BlueZScript(isBlocked: true)
        blocked.start(isPowered: false)
        #expect(blocked.states == [.blocked])

        var told = BlueZScript()
        told.report(.owner(":1.7"))
        let properties: BusProperties = ["Powered": .flag(false), "PowerState": .text("off-blocked")]
        told.report(.objects([Self.adapter: [BlueZ.adapter: properties]]))
        #expect(told.states == [.blocked])
    }

    @Test(
        "A scan that fails says why",
        arguments: [
            ("org.bluez.Error.NotReady", RadioState.adapterOff),
            ("org.freedesktop.DBus.Error.AccessDenied", .noPermission),
            ("org.bluez.Error.NotAuthorized", .noPermission),
            ("org.freedesktop.DBus.Error.NoReply", .noService),
            ("org.bluez.Error.Failed", .unsupported),
            ("org.bluez.Error.InProgress", .available),
        ]
    )
    func failedScan(error: String, state: RadioState) {
        var script = BlueZScript()
        script.listen()
        script.start()
        script.report(.failed(.startDiscovery(adapter: Self.adapter), error))
        #expect(script.states == [state])
    }

    @Test("A scan that was not answered in time, and then hears somebody, is one")
    func lateScan() {
        var script = BlueZScript()
        script.listen()
        script.start()
        script.report(.failed(.startDiscovery(adapter: Self.adapter), "org.freedesktop.DBus.Error.NoReply"))
        script.hear([1], rssi: -60)
        #expect(script.states == [.noService, .available])
    }

    @Test("A bus that lets nobody ask bluetoothd is no permission")
    func forbiddenList() {
        var script = BlueZScript()
        script.report(.owner(":1.7"))
        script.report(.failed(.listObjects, "org.freedesktop.DBus.Error.AccessDenied"))
        #expect(script.states == [.noPermission])
    }

    @Test("A service that was restarted is asked for everything again")
    func restart() throws {
        let tag = try #require(BlueZScript.tag)
        var script = BlueZScript()
        script.tag(tag)
        script.startListening()
        script.report(.owner(nil))
        #expect(script.states == [.available, .noService])
        #expect(script.takeCalls().isEmpty)
        script.start()
        let advertising: [BlueZCall] = [.unregister(adapter: Self.adapter), .register(adapter: Self.adapter, tag)]
        #expect(script.takeCalls() == [.listObjects] + Self.listening + advertising)
    }

    @Test("An adapter that comes late is used, and one that goes is not")
    func lateAdapter() {
        var script = BlueZScript()
        script.listen()
        script.report(.owner(":1.7"))
        script.report(.objects([:]))
        _ = script.takeCalls()
        script.report(.added(path: Self.adapter, BlueZScript.interfaces(isPowered: true)))
        #expect(script.takeCalls() == Self.listening)
        script.report(.done(.startDiscovery(adapter: Self.adapter)))
        script.report(.removed(path: Self.adapter, interfaces: [BlueZ.adapter, BlueZ.advertisingManager]))
        #expect(script.takeCalls().isEmpty)
        #expect(script.states == [.noAdapter, .available, .noAdapter])
    }

    @Test("An adapter that is switched off and on listens again")
    func powerCycle() {
        var script = BlueZScript()
        script.startListening()
        script.power(false)
        #expect(script.takeCalls().isEmpty)
        script.power(true)
        #expect(script.takeCalls() == Self.listening)
        script.report(.done(.startDiscovery(adapter: Self.adapter)))
        #expect(script.states == [.available, .adapterOff, .available])
    }

    @Test("Of two adapters the one in use stays in use, and the other one takes its place")
    func twoAdapters() {
        let other = "/org/bluez/hci1"
        var script = BlueZScript()
        script.listen()
        script.report(.owner(":1.7"))
        script.report(.objects([other: BlueZScript.interfaces(isPowered: true)]))
        script.report(.done(.startDiscovery(adapter: other)))
        _ = script.takeCalls()
        script.report(.added(path: Self.adapter, BlueZScript.interfaces(isPowered: true)))
        #expect(script.takeCalls().isEmpty)
        script.report(.removed(path: other, interfaces: [BlueZ.adapter]))
        #expect(script.takeCalls() == Self.listening)
    }

    @Test("A new tag takes the old one's place")
    func newTag() throws {
        let (first, second) = (try #require(BlueZScript.tag), try #require(RadioPayload([9])))
        var script = BlueZScript()
        script.tag(first)
        script.start()
        _ = script.takeCalls()
        script.tag(second)
        #expect(script.takeCalls() == [.unregister(adapter: Self.adapter), .register(adapter: Self.adapter, second)])
        script.tag(second)
        #expect(script.takeCalls().isEmpty)
        script.tag(nil)
        #expect(script.takeCalls() == [.unregister(adapter: Self.adapter)])
    }

    @Test("Who cannot be heard says so, and tries again when there is room")
    func unheard() throws {
        let tag = try #require(BlueZScript.tag)
        let register = BlueZCall.register(adapter: Self.adapter, tag)
        var script = BlueZScript()
        script.tag(tag)
        script.start()
        script.report(.failed(register, "org.bluez.Error.NotPermitted"))
        #expect(script.states == [.available, .unheard])
        _ = script.takeCalls()
        let properties: BusProperties = ["SupportedInstances": .number(1)]
        script.report(
            .changed(path: Self.adapter, interface: BlueZ.advertisingManager, properties, invalidated: [])
        )
        #expect(script.takeCalls() == [.unregister(adapter: Self.adapter), register])
        #expect(script.states == [.available, .unheard, .available])

        script.report(.released)
        #expect(script.states.last == .unheard)
        #expect(script.takeCalls().isEmpty)

        var mute = BlueZScript()
        mute.tag(tag)
        mute.start(canAdvertise: false)
        #expect(mute.states == [.unheard])
    }

    @Test("An answer that came too late changes nothing")
    func lateAnswer() throws {
        let (first, second) = (try #require(BlueZScript.tag), try #require(RadioPayload([9])))
        var script = BlueZScript()
        script.tag(first)
        script.start()
        script.tag(second)
        script.report(.failed(.register(adapter: Self.adapter, first), "org.bluez.Error.Failed"))
        script.report(.failed(.startDiscovery(adapter: Self.adapter), "org.bluez.Error.Failed"))
        #expect(script.states == [.available])
    }

    @Test("The end takes back all that was asked for, and tells nothing")
    func stop() {
        var script = BlueZScript()
        script.tag(BlueZScript.tag)
        script.startListening()
        let states = script.states
        script.stop()
        #expect(
            script.takeCalls() == [.stopDiscovery(adapter: Self.adapter), .unregister(adapter: Self.adapter)]
        )
        #expect(script.states == states)
    }
}
