import FoundationEssentials

/// Writes one value that was found to be within the limits.
///
/// Each value becomes an object of its own, a container after what it holds: so references are known when they are
/// written, and the top object is the last.
struct BinaryPropertyListWriter {
    private let referenceSize: Int
    private var bytes = PropertyListMarker.header
    /// Where each object begins.
    private var offsets: [Int] = []

    /// Begins a list.
    ///
    /// - Parameter objectCount: How many values and keys there will be.
    init(objectCount: Int) {
        referenceSize = Self.size(of: objectCount - 1)
    }

    /// Writes the whole list.
    mutating func list(of value: PropertyList) -> [UInt8] {
        let top = write(value)
        let table = bytes.count
        let offsetSize = Self.size(of: table)
        for offset in offsets { append(offset, size: offsetSize) }
        bytes += [0, 0, 0, 0, 0, 0, UInt8(offsetSize), UInt8(referenceSize)]
        append(offsets.count, size: 8)
        append(top, size: 8)
        append(table, size: 8)
        return bytes
    }

    /// Writes an object, after those that it refers to, and returns its number.
    private mutating func write(_ value: PropertyList) -> Int {
        switch value {
        case .boolean(let value):
            begin()
            bytes.append(value ? PropertyListMarker.yes : PropertyListMarker.no)
        case .integer(let value):
            begin()
            appendInteger(value)
        case .real(let value):
            begin()
            bytes.append(PropertyListMarker.double)
            append(value.bitPattern, size: 8)
        case .date(let value):
            begin()
            bytes.append(PropertyListMarker.date)
            append(value.timeIntervalSinceReferenceDate.bitPattern, size: 8)
        case .data(let value):
            begin()
            append(PropertyListMarker.data, count: value.count)
            bytes += value
        case .string(let value) where value.isASCII:
            begin()
            append(PropertyListMarker.asciiString, count: value.utf8.count)
            bytes += value.utf8
        case .string(let value):
            begin()
            append(PropertyListMarker.utf16String, count: value.utf16.count)
            for unit in value.utf16 { append(unit, size: 2) }
        case .array(let elements):
            let references = elements.map { write($0) }
            begin()
            append(PropertyListMarker.array, count: elements.count)
            for reference in references { append(reference, size: referenceSize) }
        case .dictionary(let members):
            let sorted = members.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }
            let references = sorted.map { write(.string($0.key)) } + sorted.map { write($0.value) }
            begin()
            append(PropertyListMarker.dictionary, count: members.count)
            for reference in references { append(reference, size: referenceSize) }
        }
        return offsets.count - 1
    }

    private mutating func begin() {
        offsets.append(bytes.count)
    }

    /// Writes a marker and how many items follow it.
    private mutating func append(_ marker: UInt8, count: Int) {
        guard count >= PropertyListMarker.countFollows else { return bytes.append(marker | UInt8(count)) }
        bytes.append(marker | PropertyListMarker.countFollows)
        appendInteger(count)
    }

    private mutating func appendInteger(_ value: Int) {
        let size = Self.size(of: value)
        bytes.append(PropertyListMarker.integer | UInt8(size.trailingZeroBitCount))
        append(value, size: size)
    }

    /// Writes the last bytes of a number, the highest first.
    private mutating func append(_ number: some FixedWidthInteger, size: Int) {
        for shift in stride(from: 8 * (size - 1), through: 0, by: -8) {
            bytes.append(UInt8(truncatingIfNeeded: number >> shift))
        }
    }

    /// The bytes that a number takes: 1, 2 or 4 without sign, else 8.
    private static func size(of number: Int) -> Int {
        switch number {
        case 0...0xFF: 1
        case 0...0xFFFF: 2
        case 0...0xFFFF_FFFF: 4
        default: 8
        }
    }
}
