import Dispatch
import Glibc

/// A host and perhaps a port, as people write them: `kitchen`, `10.0.0.7:24290`, `[fe80::1%eth0]:24290`, `::1`.
public struct NetworkPlace: Hashable, Sendable, Comparable, CustomStringConvertible {
    /// How many addresses of a host are tried; who has more is not helped by them.
    private static let maximumAddresses = 8

    /// The host's name or its address.
    public let host: String
    /// The port; nil where none was given.
    public let port: UInt16?

    /// Reads what a person has written.
    ///
    /// - Returns: Nil where there is no host, or what follows it is no port.
    public init?(_ text: String) {
        let host: Substring
        let port: Substring?
        if text.hasPrefix("[") {
            guard let end = text.firstIndex(of: "]") else { return nil }
            host = text[text.index(after: text.startIndex)..<end]
            let rest = text[text.index(after: end)...]
            guard rest.isEmpty || rest.hasPrefix(":") else { return nil }
            port = rest.isEmpty ? nil : rest.dropFirst()
        } else if let colon = text.firstIndex(of: ":"), !text[text.index(after: colon)...].contains(":") {
            host = text[..<colon]
            port = text[text.index(after: colon)...]
        } else {
            host = text[...]
            port = nil
        }
        guard !host.isEmpty, !host.utf8.contains(0) else { return nil }
        self.host = String(host)
        guard let port else {
            self.port = nil
            return
        }
        guard let number = UInt16(port), number > 0 else { return nil }
        self.port = number
    }

    /// The place as people write it.
    public var description: String {
        let host = host.contains(":") ? "[\(host)]" : host
        return port.map { "\(host):\($0)" } ?? host
    }

    /// The order by host, then by port.
    public static func < (left: NetworkPlace, right: NetworkPlace) -> Bool {
        (left.host, left.port ?? 0) < (right.host, right.port ?? 0)
    }

    /// The same host with one port after the other, unless a port was named.
    public func places(ports: ClosedRange<UInt16>) -> [NetworkPlace] {
        (port.map { $0...$0 } ?? ports).map { NetworkPlace(host: host, port: $0) }
    }

    private init(host: String, port: UInt16) {
        self.host = host
        self.port = port
    }

    /// The host's addresses, with one port after the other.
    ///
    /// It asks the system's resolver, which may wait for servers, on a thread of its own.
    ///
    /// - Parameters:
    ///   - ports: The ports where none was given.
    ///   - limit: How long the resolver may take.
    ///   - clock: What the limit is measured by.
    /// - Returns: None where the host is not known, or the resolver does not answer in time.
    public func addresses(
        ports: ClosedRange<UInt16>,
        within limit: Duration = .seconds(3),
        clock: MonotonicClock = .system
    ) async -> [SocketAddress] {
        let found = await lookUp(within: limit, clock: clock)
        return (port.map { $0...$0 } ?? ports).flatMap { port in
            found.map { SocketAddress($0, port: port) }
        }
    }

    private func lookUp(within limit: Duration, clock: MonotonicClock) async -> [SocketAddress] {
        if let numeric = SocketAddress(numeric: host, port: 0) { return [numeric] }
        // A thread that waits for a server cannot be called back; its answer is then for nobody.
        let (host, answer) = (host, BoundedChannel<[SocketAddress]>(capacity: 1))
        DispatchQueue(label: "handoff.resolver").async {
            _ = try? answer.offer(Array(Self.resolve(host).prefix(Self.maximumAddresses)))
        }
        let found = try? await withDeadline(limit, clock: clock, timeoutError: CancellationError()) {
            try await answer.next()
        }
        return found ?? []
    }

    private static func resolve(_ host: String) -> [SocketAddress] {
        var hints = addrinfo()
        hints.ai_socktype = CInt(SOCK_STREAM.rawValue)
        var list: UnsafeMutablePointer<addrinfo>?
        guard getaddrinfo(host, nil, &hints, &list) == 0 else { return [] }
        defer { freeaddrinfo(list) }
        var addresses: [SocketAddress] = []
        var entry = list
        while let current = entry {
            var storage = sockaddr_storage()
            let count = min(Int(current.pointee.ai_addrlen), MemoryLayout<sockaddr_storage>.size)
            if let address = current.pointee.ai_addr {
                withUnsafeMutableBytes(of: &storage) {
                    $0.copyMemory(from: UnsafeRawBufferPointer(start: address, count: count))
                }
            }
            if let address = SocketAddress(storage), !addresses.contains(address) { addresses.append(address) }
            entry = current.pointee.ai_next
        }
        return addresses
    }
}
