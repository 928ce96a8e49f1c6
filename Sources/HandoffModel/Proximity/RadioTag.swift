public import FoundationEssentials

/// What a machine is known by over the radio: the same for an account's machines, noise for all others.
///
/// A tag is the first 8 bytes of HMAC-SHA256(discovery key, "ble" ‖ period ‖ machine id), the period being the number of
/// quarter hours since 1970 in 8 bytes, big-endian. Who has not the key cannot tell whose tag it is, nor that two periods'
/// tags are one machine's. A tag can be repeated by anybody who hears it: it says who may be near, and proves nothing.
public struct RadioTags: Sendable {
    /// The bytes of a tag: few enough for an advertisement, too many for two to be equal by chance.
    public static let size = 8
    /// How long a tag is used, in seconds.
    public static let period: Int64 = 15 * 60
    /// So many periods before and after ours are looked for too: clocks differ.
    private static let tolerance: Int64 = 1

    private let authenticator: MessageAuthenticator

    /// Makes and knows tags.
    ///
    /// - Parameter authenticator: HMAC-SHA256.
    public init(authenticator: @escaping MessageAuthenticator) {
        self.authenticator = authenticator
    }

    /// The tag of a machine.
    ///
    /// - Parameters:
    ///   - machine: Its id.
    ///   - time: Seconds since 1970.
    ///   - key: The account's discovery key.
    public func tag(of machine: UUID, at time: Int64, key: [UInt8]) -> [UInt8] {
        tag(of: machine, period: Self.number(at: time), key: key)
    }

    /// The tags by which machines may be heard now; to be made anew with each period.
    ///
    /// - Parameters:
    ///   - machines: The ids of those that are known.
    ///   - time: Seconds since 1970.
    ///   - keys: The account's discovery keys.
    public func machines(_ machines: [UUID], at time: Int64, keys: [[UInt8]]) -> [[UInt8]: UUID] {
        let number = Self.number(at: time)
        var known: [[UInt8]: UUID] = [:]
        for key in keys {
            for machine in machines {
                for offset in -Self.tolerance...Self.tolerance {
                    known[tag(of: machine, period: number + offset, key: key)] = machine
                }
            }
        }
        return known
    }

    /// The seconds until the next period, 1 to ``period``.
    public static func remaining(at time: Int64) -> Int64 { period - (clamped(time) % period) }

    private static func number(at time: Int64) -> Int64 { clamped(time) / period }

    /// A clock before 1970 is as good as one at 1970.
    private static func clamped(_ time: Int64) -> Int64 { max(time, 0) }

    private func tag(of machine: UUID, period: Int64, key: [UInt8]) -> [UInt8] {
        let number = withUnsafeBytes(of: period.bigEndian) { Array($0) }
        let id = withUnsafeBytes(of: machine.uuid) { Array($0) }
        return Array(authenticator(key, Array("ble".utf8) + number + id).prefix(Self.size))
    }
}
