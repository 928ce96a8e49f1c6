import CAvahi

/// What is to be done about an Avahi error code.
enum AvahiFailure: Equatable {
    /// Somebody else has the name.
    case collision
    /// The client is dead, or its daemon is: all is to be built anew.
    case connectionLost
    /// Trying the same again is useless.
    case permanent
    /// Trying again later may help.
    case passing

    init(code: Int32) {
        switch code {
        case Int32(AVAHI_ERR_COLLISION): self = .collision
        // A call that the daemon does not answer for 25 s ends with DBUS_ERROR.
        case Int32(AVAHI_ERR_DISCONNECTED), Int32(AVAHI_ERR_NO_DAEMON), Int32(AVAHI_ERR_DBUS_ERROR):
            self = .connectionLost
        case Int32(AVAHI_ERR_NOT_PERMITTED), Int32(AVAHI_ERR_ACCESS_DENIED), Int32(AVAHI_ERR_INVALID_SERVICE_NAME),
            Int32(AVAHI_ERR_INVALID_SERVICE_TYPE), Int32(AVAHI_ERR_INVALID_PORT), Int32(AVAHI_ERR_INVALID_RECORD):
            self = .permanent
        default: self = .passing
        }
    }
}

extension DiscoveryError {
    /// An Avahi error code as an error that says what to do next.
    init(avahiCode code: Int32) {
        switch code {
        case Int32(AVAHI_ERR_DISCONNECTED), Int32(AVAHI_ERR_NO_DAEMON):
            self = .noDaemon(rawCode: code)
        case Int32(AVAHI_ERR_DBUS_ERROR), Int32(AVAHI_ERR_TIMEOUT):
            self = .noAnswer(rawCode: code)
        case Int32(AVAHI_ERR_NOT_PERMITTED), Int32(AVAHI_ERR_ACCESS_DENIED):
            let advice =
                "set disable-publishing=no and disable-user-service-publishing=no in "
                + "/etc/avahi/avahi-daemon.conf and restart it"
            self.init(.notPermitted, "avahi-daemon does not let us publish services: \(advice)", rawCode: code)
        default:
            let reason = avahi_strerror(code).map { String(cString: $0) } ?? "unknown error"
            let advice = "journalctl -u avahi-daemon may say more"
            self.init(.failed, "Avahi failed: \(reason) (\(code)); \(advice)", rawCode: code)
        }
    }

    /// The client could not be made: it waits for a daemon, but needs a bus.
    static func noBus(rawCode: Int32) -> DiscoveryError {
        let advice = "sudo systemctl start dbus"
        return DiscoveryError(.noBus, "the system message bus cannot be reached: \(advice)", rawCode: rawCode)
    }

    static func noDaemon(rawCode: Int32? = nil) -> DiscoveryError {
        let advice = "sudo systemctl start avahi-daemon"
        return DiscoveryError(.noDaemon, "avahi-daemon is not running: \(advice)", rawCode: rawCode)
    }

    static func noAnswer(rawCode: Int32? = nil) -> DiscoveryError {
        let advice = "sudo systemctl restart avahi-daemon"
        return DiscoveryError(.timedOut, "avahi-daemon does not answer: \(advice)", rawCode: rawCode)
    }
}
