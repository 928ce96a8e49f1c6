public import FoundationEssentials

/// The account takes a machine out: whatever certificate it shows is refused from then on.
///
/// It names the machine, not one certificate: a machine has one for each team, and renews them.
public struct Revocation: AccountStatement {
    /// What is signed before the content.
    public static let purpose = "handoff/1 revocation"
    /// How many are kept (docs/protocol.md, "Statements").
    public static let maximumCount = 1_000
    /// How many travel in `hello`.
    public static let maximumInHello = 16
    /// How long one counts, in seconds: no certificate that was issued before it is valid for longer.
    public static let lifetime: Int64 = 400 * 24 * 60 * 60
    /// The longest serial number, in bytes (RFC 5280, section 4.1.2.2).
    public static let maximumSerial = 20

    /// The machine's id.
    public let machine: UUID
    /// The serial number of the machine's certificate that was known last, for people; empty where none was.
    public let serial: [UInt8]
    /// When it was revoked, in seconds since 1970.
    public let date: Int64
    /// The account's signature.
    public let signature: [UInt8]

    /// Puts one together.
    ///
    /// - Parameters:
    ///   - machine: The machine's id.
    ///   - serial: The serial number of its certificate, 20 bytes at most; empty where it is not known.
    ///   - date: When it is revoked, in seconds since 1970.
    ///   - sign: Makes the account's signature of the content.
    public init(machine: UUID, serial: [UInt8], date: Int64, sign: (_ content: [UInt8]) -> [UInt8]) {
        let serial = serial.count <= Self.maximumSerial ? serial : []
        self.machine = machine
        self.serial = serial
        self.date = date
        signature = sign(Self.content(machine: machine, serial: serial, date: date))
    }

    /// Takes one apart: machine id in 16 bytes, date in 8, length of the serial number, serial number, signature.
    ///
    /// - Returns: Nil where the bytes are none.
    public init?(bytes: [UInt8]) {
        guard bytes.count >= 25, case let serialEnd = 25 + Int(bytes[24]), bytes[24] <= Self.maximumSerial,
            bytes.count >= serialEnd, signatureLengths.contains(bytes.count - serialEnd),
            let date = Int64(exactly: number(in: bytes[16..<24])), date <= latestDate
        else { return nil }
        machine = UUID(bytes: bytes[..<16])
        self.date = date
        serial = Array(bytes[25..<serialEnd])
        signature = Array(bytes[serialEnd...])
    }

    /// The machine.
    public var subject: UUID { machine }
    /// What is signed.
    public var content: [UInt8] { Self.content(machine: machine, serial: serial, date: date) }
    /// The later one counts.
    public var rank: [UInt8] { HandoffModel.bytes(ofDate: date) + bytes }

    /// Whether every certificate of the machine has ended by itself.
    ///
    /// - Parameter now: The time, in seconds since 1970.
    public func isOver(at now: Int64) -> Bool { date + Self.lifetime < now }

    private static func content(machine: UUID, serial: [UInt8], date: Int64) -> [UInt8] {
        machine.bytes + HandoffModel.bytes(ofDate: date) + [UInt8(serial.count)] + serial
    }
}

extension UUID {
    /// The 16 bytes.
    var bytes: [UInt8] { withUnsafeBytes(of: uuid) { Array($0) } }

    /// Takes 16 bytes, which the caller has counted.
    init(bytes: some Collection<UInt8>) {
        var value = UUID().uuid
        withUnsafeMutableBytes(of: &value) { $0.copyBytes(from: bytes) }
        self.init(uuid: value)
    }
}
