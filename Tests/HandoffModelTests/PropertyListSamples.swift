import Foundation
import HandoffModel
import HandoffTestKit

/// Values that the property-list tests share.
enum PropertyListSamples {
    /// Values at the borders of what the format writes in another way, NaN left out since it equals nothing.
    static let corners: [PropertyList] = {
        let integers = [
            Int.min, -0x1_0000_0000, -0x8000_0001, -256, -129, -128, -1, 0, 1, 127, 128, 255, 256, 32_767, 32_768,
            65_535, 65_536, 0x7FFF_FFFF, 0x8000_0000, 0xFFFF_FFFF, 0x1_0000_0000, Int.max,
        ].map(PropertyList.integer)
        let reals = [
            0, -0.0, 1, -1.5, .pi, .infinity, -.infinity, .greatestFiniteMagnitude, .leastNonzeroMagnitude,
        ].map(PropertyList.real)
        // Fractions of a second that microseconds hold exactly, since Python's dates have no more.
        let dates = [0, 0.5, -0.125, -978_307_200.25, -3_155_673_600, 807_148_800.75, 252_423_993_599]
            .map { PropertyList.date(Date(timeIntervalSinceReferenceDate: $0)) }
        let strings = [
            "", "a", "fourteen chars", "fifteen charact", "sixteen characte", String(repeating: "x", count: 300),
            "CR\r\nLF\n", "NUL\0NUL", "é", "e\u{301}", "naïve", "👩‍👩‍👧‍👦 family", "𐀀\u{10FFFF}\u{FFFF}\u{FEFF}",
            "\u{7F}\u{80}",
            String(repeating: "ü", count: 14), String(repeating: "ü", count: 15), String(repeating: "ü", count: 40_000),
        ].map(PropertyList.string)
        let data = [0, 1, 14, 15, 16, 255, 256, 70_000].map { PropertyList.data(Data(repeating: 0xA5, count: $0)) }
        let arrays = [0, 1, 14, 15, 16, 255, 256, 300].map { PropertyList.array((0..<$0).map(PropertyList.integer)) }
        let dictionaries = [0, 1, 14, 15, 16, 300].map { count in
            PropertyList.dictionary(
                Dictionary(uniqueKeysWithValues: (0..<count).map { ("key ü \($0)", .boolean($0 % 2 == 0)) })
            )
        }
        return integers + reals + dates + strings + data + arrays + dictionaries + [true, false, nested, deep(32)]
    }()

    /// One of everything, in one another.
    static let nested: PropertyList = [
        "array": [1, -1, 2.5, true, false, "text", "ünïcode 🎈", [], [:], [["deeper"]]],
        "data": .data(Data([0, 1, 2, 255])),
        "date": .date(Date(timeIntervalSinceReferenceDate: 1.5)),
        "": ["empty key": "", "a key of more than fifteen characters": 70_000],
    ]

    /// Arrays in one another.
    static func deep(_ levels: Int) -> PropertyList {
        (1..<levels).reduce([]) { inner, _ in [inner] }
    }

    /// A value of any type, of at most three levels.
    static func random(using generator: inout SeededGenerator, levels: Int = 3) -> PropertyList {
        switch Int.random(in: 0..<(levels > 0 ? 8 : 6), using: &generator) {
        case 0: return .boolean(.random(using: &generator))
        case 1: return .integer(Int(truncatingIfNeeded: generator.next()) >> Int.random(in: 0..<64, using: &generator))
        case 2: return .real(Double.random(in: -1e9...1e9, using: &generator))
        case 3:
            let seconds = Double.random(in: BinaryPropertyList.dates, using: &generator)
            return .date(Date(timeIntervalSinceReferenceDate: seconds))
        case 4: return .data(Data((0..<Int.random(in: 0..<40, using: &generator)).map { UInt8($0) }))
        case 5: return .string(randomText(using: &generator))
        case 6:
            let count = Int.random(in: 0..<20, using: &generator)
            return .array((0..<count).map { _ in random(using: &generator, levels: levels - 1) })
        default:
            var members: [String: PropertyList] = [:]
            for _ in 0..<Int.random(in: 0..<20, using: &generator) {
                members[randomText(using: &generator)] = random(using: &generator, levels: levels - 1)
            }
            return .dictionary(members)
        }
    }

    private static func randomText(using generator: inout SeededGenerator) -> String {
        let highest: UInt32 = Bool.random(using: &generator) ? 0x7F : 0x10FFFF
        var text = ""
        for _ in 0..<Int.random(in: 0..<20, using: &generator) {
            // What is no scalar, a lone surrogate, is left out.
            if let scalar = Unicode.Scalar(UInt32.random(in: 0...highest, using: &generator)) {
                text.unicodeScalars.append(scalar)
            }
        }
        return text
    }
}
