public import Glibc

/// An IPv4 or IPv6 address with a port, and for link-local IPv6 the interface it belongs to.
public struct SocketAddress: Hashable, Sendable, CustomStringConvertible {
    /// 4 or 16 bytes in network order.
    public let octets: [UInt8]
    /// The TCP port.
    public var port: UInt16
    /// The interface's index for a link-local IPv6 address (RFC 4007), 0 for any other.
    public let scope: UInt32

    /// Makes an address from its bytes.
    ///
    /// - Parameters:
    ///   - octets: 4 bytes (IPv4) or 16 (IPv6) in network order.
    ///   - port: The TCP port.
    ///   - interface: The interface it was seen on; kept only where the address is link-local IPv6.
    /// - Returns: Nil for any other number of bytes.
    public init?(octets: [UInt8], port: UInt16, interface: UInt32 = 0) {
        guard octets.count == 4 || octets.count == 16 else { return nil }
        self.octets = octets
        self.port = port
        scope = octets.count == 16 && octets[0] == 0xfe && octets[1] & 0xc0 == 0x80 ? interface : 0
    }

    /// Makes the address of another port of the same host.
    public init(_ address: SocketAddress, port: UInt16) {
        self = address
        self.port = port
    }

    /// Reads a numeric address: `10.0.0.7`, `fe80::1%eth0`, `::1`.
    ///
    /// - Parameters:
    ///   - numeric: The address, without brackets or port; a zone is an interface's name or index.
    ///   - port: The TCP port.
    /// - Returns: Nil where it is not a numeric address or names no interface of this host.
    public init?(numeric: String, port: UInt16) {
        let parts = numeric.split(separator: "%", maxSplits: 1, omittingEmptySubsequences: false)
        var interface: UInt32 = 0
        if parts.count == 2 {
            guard let index = UInt32(parts[1]) ?? Self.interfaceIndex(String(parts[1])) else { return nil }
            interface = index
        }
        var v4 = in_addr()
        var v6 = in6_addr()
        if inet_pton(AF_INET, String(parts[0]), &v4) == 1, parts.count == 1 {
            self.init(octets: withUnsafeBytes(of: v4) { Array($0) }, port: port)
        } else if inet_pton(AF_INET6, String(parts[0]), &v6) == 1 {
            self.init(octets: withUnsafeBytes(of: v6) { Array($0) }, port: port, interface: interface)
        } else {
            return nil
        }
    }

    /// Copies an address out of the kernel's form.
    ///
    /// - Returns: Nil where the family is neither IPv4 nor IPv6.
    public init?(_ storage: sockaddr_storage) {
        var storage = storage
        switch CInt(storage.ss_family) {
        case AF_INET:
            let inet = withUnsafeBytes(of: &storage) { $0.loadUnaligned(as: sockaddr_in.self) }
            self.init(octets: withUnsafeBytes(of: inet.sin_addr) { Array($0) }, port: UInt16(bigEndian: inet.sin_port))
        case AF_INET6:
            let inet = withUnsafeBytes(of: &storage) { $0.loadUnaligned(as: sockaddr_in6.self) }
            let octets = withUnsafeBytes(of: inet.sin6_addr) { Array($0) }
            let port = UInt16(bigEndian: inet.sin6_port)
            // A dual-stack listener reports IPv4 peers as ::ffff:a.b.c.d (RFC 4291, 2.5.5.2).
            if octets[0..<10].allSatisfy({ $0 == 0 }), octets[10] == 0xff, octets[11] == 0xff {
                self.init(octets: Array(octets[12...]), port: port)
            } else {
                self.init(octets: octets, port: port, interface: inet.sin6_scope_id)
            }
        default:
            return nil
        }
    }

    /// True for IPv6.
    public var isIPv6: Bool { octets.count == 16 }

    /// The address family, `AF_INET` or `AF_INET6`.
    public var family: CInt { isIPv6 ? AF_INET6 : AF_INET }

    /// Lends the address in the kernel's form.
    public func withSockaddr<Result>(_ body: (UnsafePointer<sockaddr>, socklen_t) throws -> Result) rethrows -> Result {
        var storage = sockaddr_storage()
        let length: Int
        if isIPv6 {
            var inet = sockaddr_in6()
            inet.sin6_family = sa_family_t(AF_INET6)
            inet.sin6_port = port.bigEndian
            inet.sin6_scope_id = scope
            withUnsafeMutableBytes(of: &inet.sin6_addr) { $0.copyBytes(from: octets) }
            length = MemoryLayout<sockaddr_in6>.size
            withUnsafeMutableBytes(of: &storage) { $0.storeBytes(of: inet, as: sockaddr_in6.self) }
        } else {
            var inet = sockaddr_in()
            inet.sin_family = sa_family_t(AF_INET)
            inet.sin_port = port.bigEndian
            withUnsafeMutableBytes(of: &inet.sin_addr) { $0.copyBytes(from: octets) }
            length = MemoryLayout<sockaddr_in>.size
            withUnsafeMutableBytes(of: &storage) { $0.storeBytes(of: inet, as: sockaddr_in.self) }
        }
        return try withUnsafeBytes(of: &storage) { bytes in
            guard let base = bytes.baseAddress else { preconditionFailure("a struct has an address") }
            return try body(base.assumingMemoryBound(to: sockaddr.self), socklen_t(length))
        }
    }

    /// The address alone, with its zone: `10.0.0.7`, `fe80::1%eth0`.
    public var host: String {
        var buffer = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
        let text = octets.withUnsafeBytes { bytes in
            inet_ntop(family, bytes.baseAddress, &buffer, socklen_t(buffer.count)).map { String(cString: $0) } ?? ""
        }
        guard scope != 0 else { return text }
        var name = [CChar](repeating: 0, count: Int(IF_NAMESIZE))
        let zone = if_indextoname(scope, &name).map { String(cString: $0) } ?? String(scope)
        return "\(text)%\(zone)"
    }

    /// The address and port as people write them: `10.0.0.7:4711`, `[fe80::1%eth0]:4711`.
    public var description: String { isIPv6 ? "[\(host)]:\(port)" : "\(host):\(port)" }

    private static func interfaceIndex(_ name: String) -> UInt32? {
        let index = if_nametoindex(name)
        return index == 0 ? nil : index
    }
}
