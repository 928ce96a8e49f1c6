import CNetlink
import Glibc
public import HandoffSupport

/// Wi-Fi's signals, where this machine is itself an access point, or part of a mesh or an ad-hoc network.
///
/// A client of an access point hears only that, so between two clients there is nothing to measure. The kernel is asked
/// (nl80211) when somebody asks here, and never else; no rights are needed.
public struct WiFiRadio: Sendable {
    /// What the kernel says.
    public enum Reading: Hashable, Sendable, CustomStringConvertible {
        /// The machines that are linked by Wi-Fi now.
        case stations([WiFiStation])
        /// There is no Wi-Fi adapter.
        case noAdapter
        /// This machine is at most a client of an access point.
        case noPeers

        /// What it is, as one line for the user.
        public var description: String {
            switch self {
            case .stations(let stations): "\(stations.count) machines are linked by Wi-Fi"
            case .noAdapter: "there is no Wi-Fi adapter"
            case .noPeers: "Wi-Fi tells signals only where this machine is an access point, or in a mesh"
            }
        }
    }

    private static let executor = QueueExecutor(label: "handoff.wifi")

    /// Makes a radio, which opens nothing.
    public init() {}

    /// Asks the kernel, which takes some milliseconds.
    ///
    /// - Throws: `SystemError` where it does not answer.
    public func read() async throws -> Reading {
        try await Self.executor.run { try Self.ask() }
    }

    private static func ask() throws(SystemError) -> Reading {
        var generic = try NetlinkSocket(NETLINK_GENERIC)
        let family: UInt16?
        do throws(SystemError) {
            let request = WiFiMessages.familyRequest(NL80211_GENL_NAME)
            family = try generic.ask(type: UInt16(GENL_ID_CTRL), flags: 0, payload: request).lazy
                .compactMap(WiFiMessages.family).first
        } catch {
            guard error.code == ENOENT else { throw error }
            family = nil
        }
        guard let family else { return .noAdapter }
        let interfaces = try generic.ask(type: family, flags: NLM_F_DUMP, payload: WiFiMessages.interfacesRequest)
            .compactMap(WiFiMessages.interface)
        guard !interfaces.isEmpty else { return .noAdapter }
        guard interfaces.contains(where: \.hasPeers) else { return .noPeers }
        var route = try NetlinkSocket(NETLINK_ROUTE)
        let neighbours = try route.ask(
            type: UInt16(RTM_GETNEIGH),
            flags: NLM_F_DUMP,
            payload: WiFiMessages.neighboursRequest
        ).compactMap(WiFiMessages.neighbour)
        var stations: [WiFiStation] = []
        for interface in interfaces where interface.hasPeers {
            let request = WiFiMessages.stationsRequest(interface: interface.index)
            let found = try generic.ask(type: family, flags: NLM_F_DUMP, payload: request)
                .compactMap(WiFiMessages.station)
            stations += found.map { WiFiStation($0, neighbours) }
        }
        return .stations(stations)
    }
}

/// A machine that is linked to this one by Wi-Fi.
public struct WiFiStation: Hashable, Sendable {
    /// Its hardware address, 6 bytes.
    public let hardwareAddress: [UInt8]
    /// The strength of its signal in dBm, averaged by the driver where it does that; -128 to -1.
    public let rssi: Int
    /// Its addresses on the network, as far as this machine has spoken with it; the port is 0.
    public let addresses: [SocketAddress]

    init(_ station: WiFiMessages.Station, _ neighbours: [WiFiMessages.Neighbour]) {
        hardwareAddress = station.hardwareAddress
        rssi = station.rssi
        // By whichever interface: an access point's is often part of a bridge, which has the neighbours.
        addresses = neighbours.filter { $0.hardwareAddress == station.hardwareAddress }.map(\.address)
    }
}
