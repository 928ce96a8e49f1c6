import Testing

@testable import HandoffRadio

/// What becomes of what others say.
struct BlueZSampleTests {
    private static let bytes: [UInt8] = [1, 2, 3, 4, 5, 6, 7, 8]

    @Test("A device that carries a tag is a sample each time it is heard, with the time")
    func samples() {
        var script = BlueZScript()
        script.startListening()
        script.now = .seconds(3)
        let data: BusProperties = [
            "RSSI": .number(-60), "ServiceData": .table([BlueZ.serviceUUID: .bytes(Self.bytes)]),
        ]
        script.report(.added(path: BlueZScript.device, [BlueZ.device: data]))
        script.now = .seconds(4)
        script.hear(nil, rssi: -62)
        #expect(script.samples.map(\.rssi) == [-60, -62])
        #expect(script.samples.map(\.time) == [.seconds(3), .seconds(4)])
        #expect(script.samples.allSatisfy { $0.tag.bytes == Self.bytes })
    }

    @Test("The same strength once more is told without a number, and is a sample")
    func unchangedStrength() {
        var script = BlueZScript()
        script.startListening()
        script.hear(Self.bytes, rssi: -60)
        script.hear(Self.bytes, rssi: nil)
        #expect(script.samples.map(\.rssi) == [-60, -60])
    }

    @Test("A strength that is no longer known is not repeated")
    func invalidated() {
        var script = BlueZScript()
        script.startListening()
        script.hear(Self.bytes, rssi: -60)
        script.report(
            .changed(path: BlueZScript.device, interface: BlueZ.device, [:], invalidated: ["RSSI"])
        )
        script.hear(Self.bytes, rssi: nil)
        #expect(script.samples.count == 1)
    }

    @Test("Devices without a tag, or with one of a wrong size, are none of ours")
    func strangers() {
        var script = BlueZScript()
        script.startListening()
        script.hear(nil, rssi: -40)
        script.hear([], rssi: -40)
        script.hear(Array(repeating: 0, count: 11), rssi: -40)
        let other: BusProperties = ["RSSI": .number(-40), "ServiceData": .table([:])]
        script.report(.changed(path: BlueZScript.device, interface: BlueZ.device, other, invalidated: []))
        #expect(script.samples.isEmpty)
    }

    @Test("What is no strength of a signal is no sample", arguments: [0, 20, 127, -128, -32768])
    func impossibleStrength(rssi: Int) {
        var script = BlueZScript()
        script.startListening()
        script.hear(Self.bytes, rssi: rssi)
        #expect(script.samples.isEmpty)
    }

    @Test("A device that was there before, is gone, or is heard by another adapter is no sample")
    func notHeard() {
        var script = BlueZScript()
        let data: BusProperties = [
            "RSSI": .number(-60), "ServiceData": .table([BlueZ.serviceUUID: .bytes(Self.bytes)]),
        ]
        script.listen()
        script.report(.owner(":1.7"))
        script.report(
            .objects([
                BlueZScript.adapter: BlueZScript.interfaces(isPowered: true),
                BlueZScript.device: [BlueZ.device: data],
            ])
        )
        script.report(.removed(path: BlueZScript.device, interfaces: [BlueZ.device]))
        script.hear(nil, rssi: -50)
        script.hear(Self.bytes, rssi: -50, device: "/org/bluez/hci01/dev_1")
        #expect(script.samples.isEmpty)
    }

    @Test("Nothing is told of what is heard while nobody listens")
    func deaf() {
        var script = BlueZScript()
        script.startListening()
        script.listen(false)
        script.hear(Self.bytes, rssi: -50)
        #expect(script.samples.isEmpty)
    }

    @Test("However many devices strangers invent, a tag that is said again is heard")
    func flood() {
        var script = BlueZScript()
        script.startListening()
        for number in 0..<2000 { script.hear([7], rssi: -90, device: "/org/bluez/hci0/dev_x\(number)") }
        script.hear(Self.bytes, rssi: -50)
        #expect(script.samples.count == 2001)
        #expect(script.samples.last?.tag.bytes == Self.bytes)
    }
}
