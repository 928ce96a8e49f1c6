import CNetlink
import Foundation
import HandoffSupport
import Testing

@testable import HandoffRadio

/// The kernel's answers.
///
/// Those about neighbours and families were recorded on Linux 6.18; those of nl80211 are made by the layout in
/// linux/nl80211.h, since there was no radio to record.
struct WiFiMessagesTests {
    private static let neighbours = """
        4c0000001c000200070000008f190000020000000300000080000001080001000a0900020a00020002000000000200000800\
        040000000000140003000d0000000d0000000d00000000000000580000001c000200070000008f1900000a00000002000000\
        4000000514000100ff0200000000000000000000000000160a00020033330000001600000800040000000000140003007c17\
        00000c0000000c00000000000000580000001c000200070000008f1900000a000000030000008000000114000100fe800000\
        0000000000000000000000020a00020002000000000200000800040000000000140003000c0000000c0000000c0000000000\
        0000
        """
    private static let family = """
        88000000100000000700000049190000010200000b0002006e6c6374726c000006000100100000000800030002000000080004000000\
        000008000500000000002c000600140001000800010003000000080002000e00000014000200080001000a000000080002000c000000\
        1c0007001800010008000200100000000b0001006e6f746966790000
        """

    private static func bytes(_ hexadecimal: String) -> [UInt8] {
        let digits = Array(hexadecimal.filter(\.isHexDigit))
        return stride(from: 0, to: digits.count - 1, by: 2).compactMap { UInt8(String(digits[$0...$0 + 1]), radix: 16) }
    }

    private static func messages(_ hexadecimal: String) -> [NetlinkMessage] {
        NetlinkMessage.all(in: bytes(hexadecimal)[...])
    }

    private static let hardware: [UInt8] = [2, 0, 0, 0, 0, 2]

    /// The bytes of a message that tells of a station.
    private static func station(
        hardware: [UInt8] = hardware,
        _ information: [(kind: UInt32, value: [UInt8])]
    ) -> NetlinkMessage {
        let nested = information.flatMap { NetlinkMessage.attribute(UInt16($0.kind), $0.value) }
        let payload: [UInt8] =
            [UInt8(NL80211_CMD_NEW_STATION.rawValue), 1, 0, 0]
            + NetlinkMessage.attribute(UInt16(NL80211_ATTR_IFINDEX.rawValue), UInt32(3).bytes)
            + NetlinkMessage.attribute(UInt16(NL80211_ATTR_MAC.rawValue), hardware)
            + NetlinkMessage.attribute(UInt16(NL80211_ATTR_STA_INFO.rawValue) | 0x8000, nested)
        return NetlinkMessage(type: 28, sequence: 7, payload: payload[...])
    }

    private static let signal = NL80211_STA_INFO_SIGNAL.rawValue
    private static let average = NL80211_STA_INFO_SIGNAL_AVG.rawValue
    private static let silence = NL80211_STA_INFO_INACTIVE_TIME.rawValue

    private static func level(_ rssi: Int8) -> [UInt8] { [UInt8(bitPattern: rssi)] }

    @Test("Neighbours have a hardware address, an address and its interface")
    func neighbourTable() throws {
        let found = Self.messages(Self.neighbours).compactMap(WiFiMessages.neighbour)
        #expect(found.count == 3)
        #expect(found.first?.hardwareAddress == Self.hardware)
        #expect(found.first?.address == SocketAddress(octets: [10, 9, 0, 2], port: 0))
        let last = try #require(found.last)
        #expect(last.hardwareAddress == Self.hardware)
        #expect(last.address.scope == 3)
        #expect(last.interface == 3)
    }

    @Test("A family has a number")
    func familyNumber() {
        #expect(Self.messages(Self.family).compactMap(WiFiMessages.family) == [16])
    }

    @Test("A station has the averaged signal before that of the last frame")
    func stationSignal() {
        let both = Self.station([(Self.signal, Self.level(-40)), (Self.average, Self.level(-55))])
        #expect(WiFiMessages.station(both) == WiFiMessages.Station(hardwareAddress: Self.hardware, rssi: -55))
        let last = Self.station([(Self.signal, Self.level(-40)), (Self.silence, UInt32(20).bytes)])
        #expect(WiFiMessages.station(last)?.rssi == -40)
    }

    @Test("A signal that is old, unknown or impossible is none")
    func noSignal() {
        let old = [(Self.average, Self.level(-55)), (Self.silence, UInt32(5001).bytes)]
        let samples = [
            Self.station(old), Self.station([]), Self.station([(Self.average, Self.level(0))]),
            Self.station([(Self.average, Self.level(20))]), Self.station([(Self.average, [])]),
            Self.station(hardware: [1, 2], [(Self.average, Self.level(-55))]),
        ]
        for sample in samples { #expect(WiFiMessages.station(sample) == nil) }
    }

    @Test("Stations are other machines where this one is an access point, in a mesh or ad hoc")
    func interfaces() {
        func interface(_ type: nl80211_iftype) -> WiFiMessages.Interface? {
            let payload: [UInt8] =
                [UInt8(NL80211_CMD_NEW_INTERFACE.rawValue), 1, 0, 0]
                + NetlinkMessage.attribute(UInt16(NL80211_ATTR_IFINDEX.rawValue), UInt32(5).bytes)
                + NetlinkMessage.attribute(UInt16(NL80211_ATTR_IFTYPE.rawValue), type.rawValue.bytes)
            return WiFiMessages.interface(NetlinkMessage(type: 28, sequence: 7, payload: payload[...]))
        }
        #expect(interface(NL80211_IFTYPE_AP) == WiFiMessages.Interface(index: 5, type: 3))
        for type in [NL80211_IFTYPE_ADHOC, NL80211_IFTYPE_AP, NL80211_IFTYPE_MESH_POINT, NL80211_IFTYPE_P2P_GO] {
            #expect(interface(type)?.hasPeers == true)
        }
        for type in [NL80211_IFTYPE_STATION, NL80211_IFTYPE_MONITOR, NL80211_IFTYPE_P2P_CLIENT] {
            #expect(interface(type)?.hasPeers == false)
        }
    }

    @Test("A station's addresses are those of the neighbours with its hardware address")
    func mapping() {
        let neighbours = Self.messages(Self.neighbours).compactMap(WiFiMessages.neighbour)
        let station = WiFiStation(WiFiMessages.Station(hardwareAddress: Self.hardware, rssi: -50), neighbours)
        #expect(station.addresses.map(\.octets.count) == [4, 16])
        let stranger = WiFiStation(WiFiMessages.Station(hardwareAddress: [9, 9, 9, 9, 9, 9], rssi: -50), neighbours)
        #expect(stranger.addresses.isEmpty)
    }

    @Test("Bytes that end anywhere, or are changed anywhere, are read without harm")
    func damagedBytes() {
        let station = Self.station([(Self.average, Self.level(-55)), (Self.silence, UInt32(20).bytes)])
        let whole = NetlinkMessage.request(type: 28, flags: 0, sequence: 7, payload: Array(station.payload))
        for bytes in [Self.bytes(Self.neighbours), Self.bytes(Self.family), whole] {
            for place in bytes.indices {
                Self.readAll(bytes[..<place])
                Self.readAll(bytes[place...])
                for value: UInt8 in [0, 1, 0x7f, 0x80, 0xff] {
                    var changed = bytes
                    changed[place] = value
                    Self.readAll(changed[...])
                }
            }
        }
        #expect(NetlinkMessage.all(in: whole[...]).compactMap(WiFiMessages.station).count == 1)
        #expect(NetlinkMessage.all(in: whole.dropLast()).isEmpty)
    }

    private static func readAll(_ bytes: ArraySlice<UInt8>) {
        for message in NetlinkMessage.all(in: bytes) {
            _ = WiFiMessages.family(message)
            _ = WiFiMessages.interface(message)
            _ = WiFiMessages.station(message)
            _ = WiFiMessages.neighbour(message)
        }
    }

    @Test("This machine's kernel answers, and says why where it does not know")
    func realKernel() async throws {
        var generic = try NetlinkSocket(NETLINK_GENERIC)
        let request = WiFiMessages.familyRequest("nlctrl")
        let answer = try generic.ask(type: UInt16(GENL_ID_CTRL), flags: 0, payload: request)
        #expect(answer.compactMap(WiFiMessages.family) == [UInt16(GENL_ID_CTRL)])
        let nobody = WiFiMessages.familyRequest("nobody")
        do {
            _ = try generic.ask(type: UInt16(GENL_ID_CTRL), flags: 0, payload: nobody)
            Issue.record("there is no such family")
        } catch {
            #expect(error == SystemError("", code: ENOENT))
        }
        var route = try NetlinkSocket(NETLINK_ROUTE)
        let dump = try route.ask(
            type: UInt16(RTM_GETNEIGH),
            flags: NLM_F_DUMP,
            payload: WiFiMessages.neighboursRequest
        )
        #expect(dump.allSatisfy { CInt($0.type) == CInt(RTM_NEWNEIGH) })
        // Whatever Wi-Fi this machine has.
        _ = try await WiFiRadio().read()
    }
}
