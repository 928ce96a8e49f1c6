import CAvahi
import Testing

@testable import HandoffDiscovery

@Suite struct AvahiErrorTests {
    @Test(
        "Each Avahi code becomes the error that says what to do",
        arguments: [
            (AVAHI_ERR_DISCONNECTED, DiscoveryError.Code.noDaemon, "sudo systemctl start avahi-daemon"),
            (AVAHI_ERR_NO_DAEMON, .noDaemon, "sudo systemctl start avahi-daemon"),
            (AVAHI_ERR_DBUS_ERROR, .timedOut, "sudo systemctl restart avahi-daemon"),
            (AVAHI_ERR_NOT_PERMITTED, .notPermitted, "disable-user-service-publishing=no"),
            (AVAHI_ERR_TOO_MANY_OBJECTS, .failed, "journalctl -u avahi-daemon"),
        ]
    )
    func mapsCodes(avahi: Int, code: DiscoveryError.Code, advice: String) {
        let error = DiscoveryError(avahiCode: Int32(avahi))
        #expect(error.code == code)
        #expect(error.rawCode == Int32(avahi))
        #expect(error.message.contains(advice))
    }

    @Test(
        "Each Avahi code has one consequence",
        arguments: [
            (AVAHI_ERR_COLLISION, AvahiFailure.collision),
            (AVAHI_ERR_DISCONNECTED, .connectionLost),
            (AVAHI_ERR_NO_DAEMON, .connectionLost),
            (AVAHI_ERR_DBUS_ERROR, .connectionLost),
            (AVAHI_ERR_NOT_PERMITTED, .permanent),
            (AVAHI_ERR_INVALID_SERVICE_NAME, .permanent),
            (AVAHI_ERR_TIMEOUT, .passing),
            (AVAHI_ERR_TOO_MANY_OBJECTS, .passing),
        ]
    )
    func judgesCodes(avahi: Int, failure: AvahiFailure) {
        #expect(AvahiFailure(code: Int32(avahi)) == failure)
    }
}
