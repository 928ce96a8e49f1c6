import Foundation
import HandoffModel
import HandoffTestKit
import Testing

/// Bytes as no honest writer makes them: each is refused with its reason, and none may trap or take long.
@Suite("Hostile property lists")
struct HostilePropertyListTests {
    @Test("Bytes that are no list are refused")
    func noList() throws {
        let valid = try BinaryPropertyList.encode(true)
        #expect(valid.count == 42)
        #expect(refusal(of: []) == .malformed)
        #expect(refusal(of: Array("bplist00".utf8)) == .malformed)
        #expect(refusal(of: Array(repeating: 0, count: 100)) == .malformed)
        #expect(refusal(of: Array("bplist01".utf8) + valid.dropFirst(8)) == .malformed)
        #expect(
            refusal(of: Array(("<?xml version=\"1.0\"?><plist version=\"1.0\"><dict/></plist>").utf8)) == .malformed
        )
        #expect(refusal(of: Array(valid.prefix(8) + valid.suffix(32))) == .malformed)
        #expect(refusal(of: valid + [0]) == .malformed)
    }

    @Test("A list cut short at any byte is refused")
    func truncated() throws {
        let valid = try BinaryPropertyList.encode(PropertyListSamples.nested)
        for length in valid.indices {
            #expect(refusal(of: Array(valid.prefix(length))) == .malformed)
        }
    }

    @Test("A list with any byte changed is refused or read, never a trap")
    func mutated() throws {
        let valid = try BinaryPropertyList.encode(PropertyListSamples.nested)
        var refusals = 0
        for index in valid.indices {
            for mask in [0x01, 0x02, 0x04, 0x08, 0x10, 0x20, 0x40, 0x80, 0xFF, valid[index]] {
                var bytes = valid
                bytes[index] ^= mask
                if refusal(of: bytes) != nil { refusals += 1 }
            }
        }
        #expect(refusals > valid.count)
    }

    @Test("Random damage is refused or read, and what is read can be written again")
    func damaged() throws {
        var generator = SeededGenerator(seed: 2)
        let valid = try BinaryPropertyList.encode(PropertyListSamples.nested)
        for _ in 0..<3_000 {
            var bytes = valid
            for _ in 0..<Int.random(in: 1...6, using: &generator) {
                let index = Int.random(in: 8..<bytes.count, using: &generator)
                // Markers and extreme numbers do more damage than any byte.
                bytes[index] =
                    [0, 1, 0x0F, 0x13, 0x14, 0x5F, 0x6F, 0xAF, 0xDF, 0x7F, 0x80, 0xFF, .random(in: 0...255)]
                    .randomElement(using: &generator) ?? 0
            }
            guard let value = try? BinaryPropertyList.decode(bytes) else { continue }
            #expect(throws: Never.self) { try BinaryPropertyList.encode(value) }
        }
    }

    @Test(
        "A trailer that lies is refused",
        arguments: [
            (6, [0]), (6, [3]), (6, [9]), (6, [255]), (6, [2]), (7, [0]), (7, [3]), (7, [16]),
            (8, number(0)), (8, number(2)), (8, number(.max)), (8, number(1 << 63)), (8, number(1 << 61)),
            (16, number(1)), (16, number(.max)), (16, number(1 << 63)),
            (24, number(0)), (24, number(8)), (24, number(10)), (24, number(42)), (24, number(.max)),
            (24, number(1 << 63)),
        ] as [(Int, [UInt8])]
    )
    func trailer(place: Int, lie: [UInt8]) throws {
        var bytes = try BinaryPropertyList.encode(true)
        let start = bytes.count - 32 + place
        bytes.replaceSubrange(start..<start + lie.count, with: lie)
        #expect(refusal(of: bytes) == .malformed)
    }

    @Test("A trailer whose unused bytes are set is read")
    func unusedTrailerBytes() throws {
        var bytes = try BinaryPropertyList.encode(true)
        bytes.replaceSubrange(10..<16, with: [1, 2, 3, 4, 5, 6])
        #expect(try BinaryPropertyList.decode(bytes) == true)
    }

    @Test(
        "An offset outside of the objects is refused",
        arguments: [0, 7, 9, 10, 100, 1 << 32, 1 << 63, .max] as [UInt64]
    )
    func offsets(offset: UInt64) {
        #expect(refusal(of: list([[0x09]], offsetSize: 8, offsets: [offset])) == .malformed)
    }

    @Test("A reference to no object is refused", arguments: [1, 2, 1 << 63, .max] as [UInt64])
    func references(reference: UInt64) {
        #expect(refusal(of: list([[0xA1] + number(reference)], referenceSize: 8)) == .malformed)
    }

    @Test("A reference does not reach beyond the offset table into the trailer")
    func referenceIntoTrailer() {
        var bytes = list([[0xA1, 1, 0x09]])
        // Taken for an offset, the trailer's first byte would lead to the "true" after the array.
        bytes[bytes.count - 32] = 10
        #expect(refusal(of: bytes) == .malformed)
    }

    @Test("A byte between the offset table and the trailer is refused")
    func gap() {
        var bytes = list([[0x09]], offsetSize: 2)
        bytes.insert(0, at: bytes.count - 32)
        #expect(refusal(of: bytes) == .malformed)
    }

    @Test("Sizes of 1, 2, 4 and 8 bytes are read", arguments: [1, 2, 4, 8], [1, 2, 4, 8])
    func sizes(offsetSize: Int, referenceSize: Int) throws {
        let reference = Array(number(1).suffix(referenceSize))
        let bytes = list([[0xA1] + reference, [0x09]], offsetSize: offsetSize, referenceSize: referenceSize)
        #expect(try BinaryPropertyList.decode(bytes) == [true])
    }

    @Test(
        "A length that is not there is refused",
        arguments: [0x40, 0x50, 0x60, 0xA0, 0xD0] as [UInt8],
        [
            [0x10, 200], [0x11, 0xFF, 0xFF], [0x12, 0xFF, 0xFF, 0xFF, 0xFF], [0x13] + number(.max),
            [0x13] + number(1 << 63), [0x13] + number(1 << 62), [0x13] + number((1 << 63) / 16), [0x13, 0],
            [0x14] + number(0) + number(0), [0x0F], [0x51], [],
        ] as [[UInt8]]
    )
    func lengths(marker: UInt8, count: [UInt8]) {
        #expect(refusal(of: list([[marker | 0x0F] + count])) == .malformed)
        #expect(refusal(of: list([[marker | 0x0E]])) == .malformed)
    }

    @Test(
        "A length that goes one item too far is refused",
        arguments: [
            [0x41], [0x43, 1, 2], [0x52, 0x61], [0x61, 0], [0x62, 0, 0x61, 0], [0xA1], [0xA2, 0], [0xD1, 0],
        ]
    )
    func oneTooFar(object: [UInt8]) {
        #expect(refusal(of: list([object])) == .malformed)
    }

    @Test("A length is unsigned and may be longer than needed", arguments: [[0x10], [0x11, 0], [0x12, 0, 0, 0]])
    func wideLengths(start: [UInt8]) throws {
        let bytes = list([[0x4F] + start + [200] + Array(repeating: 7, count: 200)])
        #expect(try BinaryPropertyList.decode(bytes) == .data(Data(repeating: 7, count: 200)))
    }

    @Test(
        "A number cut short is refused",
        arguments: [[0x10], [0x13, 0], [0x14] + number(0), [0x22, 0], [0x23], [0x33]]
    )
    func shortNumbers(object: [UInt8]) {
        #expect(refusal(of: list([object])) == .malformed)
    }

    @Test("Integers are unsigned up to 4 bytes and signed from 8")
    func integers() throws {
        #expect(try BinaryPropertyList.decode(list([[0x10, 0xFF]])) == 255)
        #expect(try BinaryPropertyList.decode(list([[0x11, 0xFF, 0xFE]])) == 65_534)
        #expect(try BinaryPropertyList.decode(list([[0x12, 0xFF, 0xFF, 0xFF, 0xFF]])) == 0xFFFF_FFFF)
        #expect(try BinaryPropertyList.decode(list([[0x13] + number(.max)])) == -1)
        #expect(try BinaryPropertyList.decode(list([[0x14] + number(0) + number(5)])) == 5)
        #expect(try BinaryPropertyList.decode(list([[0x14] + number(.max) + number(1 << 63)])) == .integer(.min))
        #expect(refusal(of: list([[0x14] + number(0) + number(1 << 63)])) == .integerOutOfRange)
        #expect(refusal(of: list([[0x14] + number(.max) + number(0)])) == .integerOutOfRange)
        #expect(refusal(of: list([[0x14] + number(1) + number(0)])) == .integerOutOfRange)
        #expect(refusal(of: list([[0x15] + Array(repeating: 0, count: 32)])) == .malformed)
    }

    @Test("Reals of 4 bytes are read")
    func singles() throws {
        #expect(try BinaryPropertyList.decode(list([[0x22, 0xBF, 0xC0, 0, 0]])) == -1.5)
    }

    @Test(
        "A date that is no moment of the calendar is refused",
        arguments: [.nan, .infinity, 1e300, -1e300] as [Double]
    )
    func dates(seconds: Double) {
        #expect(refusal(of: list([[0x33] + number(seconds.bitPattern)])) == .invalidDate)
    }

    @Test(
        "Text that is not valid is refused, never repaired",
        arguments: [
            [0x51, 0x80], [0x52, 0x61, 0xFF], [0x61, 0xD8, 0x00], [0x61, 0xDC, 0x00],
            [0x62, 0xDC, 0x00, 0xD8, 0x00], [0x62, 0xD8, 0x00, 0x00, 0x61],
        ]
    )
    func text(object: [UInt8]) {
        #expect(refusal(of: list([object])) == .invalidText)
    }

    @Test("Text that would take minutes to compare is refused")
    func combiningMarks() throws {
        // Two marks of different classes in turns: each has to be sorted past half of the others.
        let pairs = (0..<128).flatMap { _ in [0x03, 0x01, 0x03, 0x23] as [UInt8] }
        let most = [0x6F, 0x11, 0x01, 0x01, 0x00, 0x61] + pairs
        let text = "a" + String(repeating: "\u{301}\u{323}", count: 128)
        #expect(try BinaryPropertyList.decode(list([most])) == .string(text))
        #expect(try BinaryPropertyList.decode(BinaryPropertyList.encode([text: .string(text + text)]))[text] != nil)
        let tooMany = [0x6F, 0x11, 0x01, 0x01, 0x03, 0x01] + pairs
        #expect(refusal(of: list([tooMany])) == .invalidText)
        #expect(refusal(of: list([[0xD1, 1, 2], tooMany, [0x09]], offsetSize: 2)) == .invalidText)
    }

    @Test(
        "Types that are left out are refused by name",
        arguments: [0x00, 0x0C, 0x0F, 0x20, 0x21, 0x24, 0x30, 0x70, 0x80, 0x90, 0xB0, 0xC0, 0xE0, 0xFF] as [UInt8]
    )
    func unsupported(marker: UInt8) throws {
        let error = try #require(throws: PropertyListError.self) { try BinaryPropertyList.decode(list([[marker]])) }
        #expect(error.code == .unsupported)
        #expect(error.offset == 8)
        #expect(throws: error) { try BinaryPropertyList.decode(list([[0x70]])) }
        #expect(error.description.contains("0x" + String(marker, radix: 16)))
    }

    @Test("Keys are strings, and each stands once")
    func keys() {
        #expect(refusal(of: list([[0xD1, 1, 1], [0x10, 1]])) == .keyNotString)
        #expect(refusal(of: list([[0xD1, 1, 2], [0xA0], [0x09]])) == .keyNotString)
        #expect(refusal(of: list([[0xD2, 1, 1, 2, 2], [0x51, 0x61], [0x09]])) == .duplicateKey)
        #expect(refusal(of: list([[0xD2, 1, 2, 3, 3], [0x51, 0x61], [0x51, 0x61], [0x09]])) == .duplicateKey)
        // é as one scalar and as two: one key to Swift, so one of the values would be lost.
        let composed: [[UInt8]] = [[0x61, 0x00, 0xE9], [0x62, 0x00, 0x65, 0x03, 0x01]]
        #expect(refusal(of: list([[0xD2, 1, 2, 3, 3]] + composed + [[0x09]])) == .duplicateKey)
    }

    @Test("Scalars may be shared")
    func sharedScalars() throws {
        #expect(try BinaryPropertyList.decode(list([[0xA2, 1, 1], [0x51, 0x61]])) == ["a", "a"])
    }

    @Test("A cycle is refused")
    func cycles() {
        #expect(refusal(of: list([[0xA1, 0]])) == .sharedContainer)
        #expect(refusal(of: list([[0xA1, 1], [0xA1, 0]])) == .sharedContainer)
        #expect(refusal(of: list([[0xD1, 1, 0], [0x51, 0x61]])) == .sharedContainer)
        // Two object numbers for one container do not hide the cycle.
        #expect(refusal(of: list([[0xA1, 1], []], offsets: [8, 8])) == .sharedContainer)
    }

    @Test("Containers shared over 18 levels are refused")
    func sharedContainers() {
        let levels = (1...18).map { [0xA2, UInt8($0), UInt8($0)] }
        #expect(refusal(of: list(levels + [[0xA0]])) == .sharedContainer)
    }

    @Test("A thousand nested arrays are refused, 32 are read")
    func nested() throws {
        let thousand = (1...1_000).map { [0xA1, UInt8($0 >> 8), UInt8($0 & 0xFF)] } + [[0xA0]]
        #expect(refusal(of: list(thousand, offsetSize: 2, referenceSize: 2)) == .tooDeep)
        let tooDeep = (1...32).map { [0xA1, UInt8($0)] } + [[0xA0]]
        #expect(refusal(of: list(tooDeep)) == .tooDeep)
        #expect(refusal(of: list((1...32).map { [0xD1, 33, UInt8($0)] } + [[0xD0], [0x50]])) == .tooDeep)
        let deep = (1...31).map { [0xA1, UInt8($0)] } + [[0xA0]]
        #expect(try BinaryPropertyList.decode(list(deep)) == PropertyListSamples.deep(32))
    }

    @Test("More than ten thousand values are refused, however few objects they share")
    func tooManyValues() throws {
        let most: [UInt8] = [0xAF, 0x11, 0x27, 0x0F] + Array(repeating: 1, count: 9_999)
        #expect(try BinaryPropertyList.decode(list([most, [0x09]], offsetSize: 2)).arrayValue?.count == 9_999)
        let tooMany: [UInt8] = [0xAF, 0x11, 0x27, 0x10] + Array(repeating: 1, count: 10_000)
        #expect(refusal(of: list([tooMany, [0x09]], offsetSize: 2)) == .tooManyValues)
        let million: [UInt8] = [0xAF, 0x12, 0, 0x10, 0, 0] + Array(repeating: 1, count: 1 << 20)
        #expect(refusal(of: list([million, [0x09]], offsetSize: 4)) == .tooManyValues)
    }

    @Test("A long string or data referred to many times is refused", arguments: [0x4F, 0x5F, 0x6F] as [UInt8])
    func tooLarge(marker: UInt8) {
        let long = [marker, 0x12, 0, 0x08, 0, 0] + Array(repeating: UInt8(0x61), count: 1 << 20)
        #expect(refusal(of: list([[0xA9] + Array(repeating: 1, count: 9), long], offsetSize: 4)) == .tooLarge)
    }
}

/// Why bytes are not read, or nil where they are.
private func refusal(of bytes: [UInt8]) -> PropertyListError.Code? {
    do {
        _ = try BinaryPropertyList.decode(bytes)
        return nil
    } catch {
        return error.code
    }
}

/// Eight big-endian bytes.
private func number(_ number: UInt64) -> [UInt8] {
    withUnsafeBytes(of: number.bigEndian) { Array($0) }
}

/// Puts objects into a list, the first of them on top.
private func list(
    _ objects: [[UInt8]],
    offsetSize: Int = 1,
    referenceSize: Int = 1,
    offsets: [UInt64]? = nil
) -> [UInt8] {
    var bytes = Array("bplist00".utf8)
    var places: [UInt64] = []
    for object in objects {
        places.append(UInt64(bytes.count))
        bytes += object
    }
    let table = UInt64(bytes.count)
    for place in offsets ?? places { bytes += number(place).suffix(offsetSize) }
    bytes += [0, 0, 0, 0, 0, 0, UInt8(offsetSize), UInt8(referenceSize)]
    return bytes + number(UInt64(objects.count)) + number(0) + number(table)
}
