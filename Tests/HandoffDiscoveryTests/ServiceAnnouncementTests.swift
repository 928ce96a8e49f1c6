import HandoffDiscovery
import Testing

@Suite struct ServiceAnnouncementTests {
    private static func make(
        _ instanceName: String = "h-abc",
        port: UInt16 = 4711,
        text: [[UInt8]] = []
    ) -> ServiceAnnouncement {
        ServiceAnnouncement(instanceName: instanceName, port: port, text: text)
    }

    @Test(
        "What DNS-SD allows may be announced",
        arguments: [
            make(),
            make(String(repeating: "x", count: 63)),
            make("Küche ☕"),
            make(text: [Array("txtvers=1".utf8), [0xff, 0x00]]),
            make(text: [[UInt8](repeating: 1, count: 255)]),
            make(text: Array(repeating: [UInt8](repeating: 1, count: 129), count: 10)),
        ]
    )
    func acceptsValid(announcement: ServiceAnnouncement) throws {
        try announcement.validate()
    }

    @Test(
        "What would be cut, would never resolve or would end the daemon is refused",
        arguments: [
            make(""),
            make(String(repeating: "x", count: 64)),
            make(String(repeating: "ü", count: 32)),
            make("a\0b"),
            make("a\nb"),
            make("a\u{9b}b"),
            make(port: 0),
            make(text: [[]]),
            make(text: [[UInt8](repeating: 1, count: 256)]),
            make(text: Array(repeating: [UInt8](repeating: 1, count: 130), count: 10)),
        ]
    )
    func refusesInvalid(announcement: ServiceAnnouncement) {
        #expect(throws: DiscoveryError(.invalidAnnouncement, "")) { try announcement.validate() }
    }
}
