public import FoundationEssentials
import HandoffSupport

/// One running app on one machine: what "ourselves", duplicate links and tie-breaks are judged by.
public struct PeerID: Hashable, Sendable, Comparable, CustomStringConvertible {
    /// The machine id out of the peer's certificate.
    public let machine: UUID
    /// The 16 random bytes that the process made at its start.
    public let instance: InstanceID

    /// Makes the pair.
    public init(machine: UUID, instance: InstanceID) {
        self.machine = machine
        self.instance = instance
    }

    /// The order by machine id, then by instance id, bytewise; the same at both ends.
    public static func < (left: PeerID, right: PeerID) -> Bool {
        left.bytes.lexicographicallyPrecedes(right.bytes)
    }

    private var bytes: [UInt8] { withUnsafeBytes(of: machine.uuid) { Array($0) } + instance.bytes }

    /// 16 hexadecimal digits that tell peers apart for people: 8 of the machine id, 8 of the instance id.
    public var description: String { String(BaseEncoding.hexadecimal(bytes[0..<4] + bytes[16..<20])) }
}

/// The 16 random bytes by which a process differs from an earlier run of itself.
public struct InstanceID: Hashable, Sendable {
    /// The bytes, always 16.
    public let bytes: [UInt8]

    /// Takes the bytes out of a message.
    ///
    /// - Returns: Nil unless there are 16.
    public init?(_ bytes: [UInt8]) {
        guard bytes.count == 16 else { return nil }
        self.bytes = bytes
    }

    /// Makes a new one.
    ///
    /// - Parameter generator: Where the randomness comes from.
    public init(using generator: inout some RandomNumberGenerator) {
        bytes = (0..<16).map { _ in UInt8.random(in: 0...255, using: &generator) }
    }
}
