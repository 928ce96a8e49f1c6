import Glibc

/// Tells when this machine comes to another network: when the networks that its addresses belong to are others.
///
/// The kernel tells of each change of an address (rtnetlink(7)); new lifetimes of the same address are none.
public final class NetworkChanges: Sendable {
    /// One network: an interface, and the part of its address that names the network.
    public struct Network: Hashable, Sendable {
        /// The interface's name.
        public let interface: String
        /// The address with the host's part set to zero, in network byte order: 4 or 16 bytes.
        public let prefix: [UInt8]
    }

    /// `struct sockaddr_nl` of netlink(7), which Swift's Glibc leaves out.
    private struct NetlinkAddress {
        var family = sa_family_t(AF_NETLINK)
        var padding: UInt16 = 0
        var port: UInt32 = 0
        var groups: UInt32
    }

    /// `NETLINK_ROUTE`, and `RTMGRP_IPV4_IFADDR` with `RTMGRP_IPV6_IFADDR` (linux/rtnetlink.h).
    private static let routing: CInt = 0
    private static let addressGroups: UInt32 = 0x10 | 0x100

    private let descriptor: FileDescriptor

    /// Begins to watch; what changes from now on is told.
    ///
    /// - Throws: `SystemError`.
    public init() throws(SystemError) {
        let kind = CInt(SOCK_RAW.rawValue) | CInt(SOCK_CLOEXEC.rawValue) | CInt(SOCK_NONBLOCK.rawValue)
        let number = socket(AF_NETLINK, kind, Self.routing)
        guard number >= 0 else { throw SystemError("watch the networks", code: errno) }
        descriptor = FileDescriptor(owning: number)
        var address = NetlinkAddress(groups: Self.addressGroups)
        let code = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(number, $0, socklen_t(MemoryLayout<NetlinkAddress>.size)) == 0 ? 0 : errno
            }
        }
        guard code == 0 else { throw SystemError("watch the networks", code: code) }
    }

    /// Waits until some address has changed; several changes in a row are one.
    ///
    /// - Throws: `CancellationError`.
    public func next() async throws {
        try await Readiness.readable.wait(for: descriptor.number, of: self)
        // What they say is not looked at: after an overflow it would be incomplete, and the addresses can be asked for.
        var scratch = [UInt8](repeating: 0, count: 8192)
        while recv(descriptor.number, &scratch, scratch.count, 0) >= 0 || errno == ENOBUFS || errno == EINTR {}
    }

    /// The networks that this machine is in now; none for loopback and IPv6's link-local addresses, which are the same
    /// everywhere.
    public static var current: Set<Network> {
        var list: UnsafeMutablePointer<ifaddrs>?
        guard getifaddrs(&list) == 0 else { return [] }
        defer { freeifaddrs(list) }
        var networks: Set<Network> = []
        var next = list
        while let entry = next?.pointee {
            next = entry.ifa_next
            guard entry.ifa_flags & UInt32(IFF_LOOPBACK) == 0, let address = bytes(of: entry.ifa_addr),
                let mask = bytes(of: entry.ifa_netmask), address.count == mask.count,
                !(address[0] == 0xfe && address[1] & 0xc0 == 0x80)
            else { continue }
            let prefix = zip(address, mask).map { $0 & $1 }
            networks.insert(Network(interface: String(cString: entry.ifa_name), prefix: prefix))
        }
        return networks
    }

    /// The bytes of an IPv4 or IPv6 address.
    private static func bytes(of address: UnsafeMutablePointer<sockaddr>?) -> [UInt8]? {
        guard let address else { return nil }
        switch CInt(address.pointee.sa_family) {
        case AF_INET:
            return address.withMemoryRebound(to: sockaddr_in.self, capacity: 1) { pointer in
                withUnsafeBytes(of: pointer.pointee.sin_addr) { Array($0) }
            }
        case AF_INET6:
            return address.withMemoryRebound(to: sockaddr_in6.self, capacity: 1) { pointer in
                withUnsafeBytes(of: pointer.pointee.sin6_addr) { Array($0) }
            }
        default: return nil
        }
    }
}
