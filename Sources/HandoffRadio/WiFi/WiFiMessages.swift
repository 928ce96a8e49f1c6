import CNetlink
import HandoffSupport

/// What the kernel says of Wi-Fi and of neighbours: bytes in, values out (linux/nl80211.h, linux/neighbour.h).
enum WiFiMessages {
    /// A network interface and how it takes part in Wi-Fi.
    struct Interface: Equatable {
        let index: UInt32
        /// One of `enum nl80211_iftype`.
        let type: UInt32

        /// Whether its stations are other machines: a mere client of an access point sees only that.
        var hasPeers: Bool {
            let types = [
                NL80211_IFTYPE_ADHOC, NL80211_IFTYPE_AP, NL80211_IFTYPE_AP_VLAN, NL80211_IFTYPE_MESH_POINT,
                NL80211_IFTYPE_P2P_GO,
            ]
            return types.contains { $0.rawValue == type }
        }
    }

    /// A machine that is linked to this one by Wi-Fi.
    struct Station: Equatable {
        let hardwareAddress: [UInt8]
        let rssi: Int
    }

    /// A machine whose address on the network is known.
    struct Neighbour: Equatable {
        let interface: UInt32
        let hardwareAddress: [UInt8]
        let address: SocketAddress
    }

    /// A signal that was measured longer ago says nothing.
    static let maximumSilence: UInt32 = 5000  // milliseconds
    private static let genericHeaderSize = 4
    private static let hardwareAddressSize = 6

    /// Asks for the number of a family of generic netlink.
    static func familyRequest(_ name: String) -> [UInt8] {
        header(CTRL_CMD_GETFAMILY) + NetlinkMessage.attribute(UInt16(CTRL_ATTR_FAMILY_NAME), Array(name.utf8) + [0])
    }

    /// Asks for all Wi-Fi interfaces.
    static var interfacesRequest: [UInt8] { header(Int(NL80211_CMD_GET_INTERFACE.rawValue)) }

    /// Asks for all stations of an interface.
    static func stationsRequest(interface: UInt32) -> [UInt8] {
        header(Int(NL80211_CMD_GET_STATION.rawValue))
            + NetlinkMessage.attribute(UInt16(NL80211_ATTR_IFINDEX.rawValue), interface.bytes)
    }

    /// Asks for all neighbours: `struct ndmsg` with nothing in it.
    static let neighboursRequest = [UInt8](repeating: 0, count: MemoryLayout<ndmsg>.size)

    static func family(_ message: NetlinkMessage) -> UInt16? {
        message.attributes(after: genericHeaderSize)[UInt16(CTRL_ATTR_FAMILY_ID)]?.number()
    }

    static func interface(_ message: NetlinkMessage) -> Interface? {
        let attributes = message.attributes(after: genericHeaderSize)
        guard let index: UInt32 = attributes[UInt16(NL80211_ATTR_IFINDEX.rawValue)]?.number(),
            let type: UInt32 = attributes[UInt16(NL80211_ATTR_IFTYPE.rawValue)]?.number()
        else { return nil }
        return Interface(index: index, type: type)
    }

    /// - Returns: Nil where it is none, or its signal is not known or is old. Drivers leave out what they do not know.
    static func station(_ message: NetlinkMessage) -> Station? {
        let attributes = message.attributes(after: genericHeaderSize)
        guard let address = attributes[UInt16(NL80211_ATTR_MAC.rawValue)], address.count == hardwareAddressSize,
            let nested = attributes[UInt16(NL80211_ATTR_STA_INFO.rawValue)]
        else { return nil }
        let information = NetlinkMessage.attributes(in: nested)
        let silence: UInt32? = information[UInt16(NL80211_STA_INFO_INACTIVE_TIME.rawValue)]?.number()
        // The average before that of the last frame.
        let signals = [NL80211_STA_INFO_SIGNAL_AVG, NL80211_STA_INFO_SIGNAL].lazy.compactMap { kind -> Int8? in
            information[UInt16(kind.rawValue)]?.number()
        }
        guard silence.map({ $0 <= maximumSilence }) ?? true, let rssi = signals.first(where: { $0 < 0 }) else {
            return nil
        }
        return Station(hardwareAddress: Array(address), rssi: Int(rssi))
    }

    /// - Returns: Nil where its hardware address is not known.
    static func neighbour(_ message: NetlinkMessage) -> Neighbour? {
        let attributes = message.attributes(after: MemoryLayout<ndmsg>.size)
        // `struct ndmsg`: family, padding, interface, state ...
        guard CInt(message.type) == CInt(RTM_NEWNEIGH), let interface: Int32 = message.payload.number(at: 4),
            let hardware = attributes[UInt16(NDA_LLADDR)], hardware.count == hardwareAddressSize,
            let octets = attributes[UInt16(NDA_DST)],
            let address = SocketAddress(octets: Array(octets), port: 0, interface: UInt32(bitPattern: interface))
        else { return nil }
        return Neighbour(
            interface: UInt32(bitPattern: interface),
            hardwareAddress: Array(hardware),
            address: address
        )
    }

    /// `struct genlmsghdr`: command, version, two bytes of nothing.
    private static func header(_ command: Int) -> [UInt8] { [UInt8(truncatingIfNeeded: command), 0, 0, 0] }
}
