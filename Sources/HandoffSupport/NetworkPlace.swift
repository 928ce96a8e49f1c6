import Glibc

/// A host and perhaps a port, as people write them: `kitchen`, `10.0.0.7:24290`, `[fe80::1%eth0]:24290`, `::1`.
public struct NetworkPlace: Hashable, Sendable, CustomStringConvertible {
    private static let executor = QueueExecutor(label: "handoff.resolver")

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

    /// The host's addresses, with one port after the other.
    ///
    /// It asks the system's resolver, which may wait for servers, on a thread of its own.
    ///
    /// - Parameter ports: The ports where none was given.
    /// - Returns: None where the host is not known.
    public func addresses(ports: ClosedRange<UInt16>) async -> [SocketAddress] {
        let host = host
        let found = (try? await Self.executor.run { Self.resolve(host) }) ?? []
        return (port.map { $0...$0 } ?? ports).flatMap { port in
            found.map { address in
                var address = address
                address.port = port
                return address
            }
        }
    }

    private static func resolve(_ host: String) -> [SocketAddress] {
        if let numeric = SocketAddress(numeric: host, port: 0) { return [numeric] }
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
