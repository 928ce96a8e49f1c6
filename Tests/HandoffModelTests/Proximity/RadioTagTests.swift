import Foundation
import HandoffModel
import Testing

struct RadioTagTests {
    private static let first = UUID(uuid: (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16))
    private static let second = UUID(uuid: (16, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 1))
    private static let key: [UInt8] = [7, 7]
    private static let time: Int64 = 1_700_000_000

    /// No HMAC: a mix of all bytes, in which each one counts.
    private static let tags = RadioTags { key, message in
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325
        for byte in key + message { hash = (hash ^ UInt64(byte)) &* 0x0000_0100_0000_01b3 }
        return withUnsafeBytes(of: hash) { Array($0) } + [UInt8](repeating: 0, count: 24)
    }

    @Test("A tag is made of \"ble\", the quarter hour and the machine id")
    func message() {
        // Shown as it is, without a key: what is authenticated is the document's word.
        let plain = RadioTags { _, message in message }
        let tag = plain.tag(of: Self.first, at: 900 * 0x0102, key: [])
        #expect(tag == Array("ble".utf8) + [0, 0, 0, 0, 0])
        let whole = RadioTags { _, message in Array(message.dropFirst(9)) }
        #expect(whole.tag(of: Self.first, at: 900 * 0x0102, key: []) == [1, 2, 1, 2, 3, 4, 5, 6])
    }

    @Test("A machine is known by its tag of this quarter hour, the one before and the one after, and no other")
    func periods() {
        let known = Self.tags.machines([Self.first, Self.second], at: Self.time, keys: [Self.key])
        #expect(known.count == 6)
        for quarters: Int64 in -3...3 {
            let tag = Self.tags.tag(of: Self.second, at: Self.time + quarters * 900, key: Self.key)
            #expect(known[tag] == (abs(quarters) <= 1 ? Self.second : nil))
        }
    }

    @Test("Another key makes another tag, and each key of an account is known")
    func keys() {
        let tag = Self.tags.tag(of: Self.first, at: Self.time, key: [8])
        #expect(Self.tags.machines([Self.first], at: Self.time, keys: [Self.key])[tag] == nil)
        #expect(Self.tags.machines([Self.first], at: Self.time, keys: [Self.key, [8]])[tag] == Self.first)
    }

    @Test("A tag stays for a quarter hour")
    func rotation() {
        let remaining = RadioTags.remaining(at: Self.time)
        let tag = Self.tags.tag(of: Self.first, at: Self.time, key: Self.key)
        #expect(Self.tags.tag(of: Self.first, at: Self.time + remaining - 1, key: Self.key) == tag)
        #expect(Self.tags.tag(of: Self.first, at: Self.time + remaining, key: Self.key) != tag)
    }

    @Test("Any clock will do", arguments: [Int64.min, -1, 0, .max])
    func clocks(time: Int64) {
        #expect(Self.tags.tag(of: Self.first, at: time, key: Self.key).count == RadioTags.size)
        #expect((1...RadioTags.period).contains(RadioTags.remaining(at: time)))
        #expect(Self.tags.machines([Self.first], at: time, keys: [Self.key]).count == 3)
    }
}
