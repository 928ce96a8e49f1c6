import CNetlink

/// A message of the kernel's (netlink(7)).
struct NetlinkMessage: Equatable {
    let type: UInt16
    let sequence: UInt32
    /// What follows the header.
    let payload: ArraySlice<UInt8>

    private static let headerSize = 16
    private static let alignment = 4

    /// The messages of one datagram, up to the first that is not whole.
    static func all(in datagram: ArraySlice<UInt8>) -> [NetlinkMessage] {
        var rest = datagram
        var messages: [NetlinkMessage] = []
        while let length = rest.number(at: 0, as: UInt32.self), length >= headerSize, length <= rest.count,
            let type = rest.number(at: 4, as: UInt16.self), let sequence = rest.number(at: 8, as: UInt32.self)
        {
            let message = rest.prefix(Int(length))
            messages.append(NetlinkMessage(type: type, sequence: sequence, payload: message.dropFirst(headerSize)))
            rest = rest.dropFirst(aligned(Int(length)))
        }
        return messages
    }

    /// The bytes of a request.
    static func request(type: UInt16, flags: CInt, sequence: UInt32, payload: [UInt8]) -> [UInt8] {
        let length = UInt32(headerSize + payload.count)
        return length.bytes + type.bytes + UInt16(NLM_F_REQUEST | flags).bytes + sequence.bytes + UInt32(0).bytes
            + payload
    }

    /// The first attribute of each type, after a fixed header of the payload.
    func attributes(after header: Int) -> [UInt16: ArraySlice<UInt8>] {
        Self.attributes(in: payload.dropFirst(header))
    }

    /// The first attribute of each type, up to the first that is not whole.
    static func attributes(in bytes: ArraySlice<UInt8>) -> [UInt16: ArraySlice<UInt8>] {
        let headerSize = 4
        // Two bits of the type say how the value is to be read.
        let mask: UInt16 = 0x3fff
        var rest = bytes
        var attributes: [UInt16: ArraySlice<UInt8>] = [:]
        while let length = rest.number(at: 0, as: UInt16.self), length >= headerSize, length <= rest.count,
            let type = rest.number(at: 2, as: UInt16.self)
        {
            let value = rest.prefix(Int(length)).dropFirst(headerSize)
            if attributes[type & mask] == nil { attributes[type & mask] = value }
            rest = rest.dropFirst(aligned(Int(length)))
        }
        return attributes
    }

    /// The bytes of an attribute.
    static func attribute(_ type: UInt16, _ value: [UInt8]) -> [UInt8] {
        let padding = [UInt8](repeating: 0, count: aligned(value.count) - value.count)
        return UInt16(4 + value.count).bytes + type.bytes + value + padding
    }

    private static func aligned(_ length: Int) -> Int { (length + alignment - 1) / alignment * alignment }
}

extension ArraySlice<UInt8> {
    /// A number in the machine's byte order, as netlink has it; nil where there are too few bytes.
    func number<Number: FixedWidthInteger>(at offset: Int = 0, as: Number.Type = Number.self) -> Number? {
        withUnsafeBytes { bytes in
            guard bytes.count - offset >= MemoryLayout<Number>.size else { return nil }
            return bytes.loadUnaligned(fromByteOffset: offset, as: Number.self)
        }
    }
}

extension FixedWidthInteger {
    /// The number's bytes in the machine's order.
    var bytes: [UInt8] { withUnsafeBytes(of: self) { Array($0) } }
}
