import FoundationEssentials

/// Reads one list: header, objects, the table of their offsets, and a trailer that says where the table is.
///
/// Every number from the bytes is unsigned, and is compared with what is there before anything is computed from it:
/// Swift traps on overflow and out of bounds, which would let a peer end our process.
struct BinaryPropertyListReader {
    private let bytes: [UInt8]
    /// Where the objects end and the table of their offsets begins.
    private let table: Int
    private let offsetSize: Int
    private let referenceSize: Int
    private let objectCount: UInt64
    private let top: UInt64

    private var budget = PropertyListBudget()
    /// Where the containers seen so far begin; not their object numbers, since two of these may share an offset.
    private var containers: Set<Int> = []

    init(_ bytes: [UInt8]) throws(PropertyListError) {
        let header = PropertyListMarker.header
        let trailer = bytes.count - PropertyListMarker.trailerLength
        guard trailer > header.count, bytes.starts(with: header) else {
            throw PropertyListError(.malformed, at: 0, "no binary property list")
        }
        self.bytes = bytes
        // Five bytes that nothing uses and the version of a sort order come first in the trailer.
        offsetSize = Int(bytes[trailer + 6])
        referenceSize = Int(bytes[trailer + 7])
        objectCount = bytes.bigEndian(at: trailer + 8, size: 8)
        top = bytes.bigEndian(at: trailer + 16, size: 8)
        let claimedTable = bytes.bigEndian(at: trailer + 24, size: 8)
        guard [1, 2, 4, 8].contains(offsetSize), [1, 2, 4, 8].contains(referenceSize),
            claimedTable > header.count, claimedTable < trailer
        else {
            throw PropertyListError(.malformed, at: trailer, "a trailer that does not fit")
        }
        table = Int(claimedTable)
        let (entries, rest) = (trailer - table).quotientAndRemainder(dividingBy: offsetSize)
        guard rest == 0, entries == objectCount else {
            throw PropertyListError(.malformed, at: trailer, "a trailer that does not fit")
        }
    }

    /// Reads the value that the trailer names.
    mutating func list() throws(PropertyListError) -> PropertyList {
        try value(top, referredAt: bytes.count - PropertyListMarker.trailerLength, depth: 0)
    }

    private mutating func value(
        _ object: UInt64,
        referredAt reference: Int,
        depth: Int
    ) throws(PropertyListError) -> PropertyList {
        try budget.takeValue(at: reference)
        guard object < objectCount else { throw malformed("a reference to no object", at: reference) }
        let entry = table + Int(object) * offsetSize
        let claimedOffset = bytes.bigEndian(at: entry, size: offsetSize)
        guard claimedOffset >= PropertyListMarker.header.count, claimedOffset < table else {
            throw malformed("an offset outside of the objects", at: entry)
        }
        let offset = Int(claimedOffset)
        let marker = bytes[offset]
        switch marker {
        case PropertyListMarker.no:
            return .boolean(false)
        case PropertyListMarker.yes:
            return .boolean(true)
        case PropertyListMarker.single:
            return .real(Double(Float(bitPattern: UInt32(try number(at: offset + 1, size: 4)))))
        case PropertyListMarker.double:
            return .real(Double(bitPattern: try number(at: offset + 1, size: 8)))
        case PropertyListMarker.date:
            let seconds = Double(bitPattern: try number(at: offset + 1, size: 8))
            try budget.checkDate(seconds, at: offset)
            return .date(Date(timeIntervalSinceReferenceDate: seconds))
        default:
            break
        }
        switch marker & 0xF0 {
        case PropertyListMarker.integer:
            return .integer(try integer(at: offset))
        case PropertyListMarker.data:
            let range = try items(of: offset, size: 1)
            try budget.takeContent(range.count, at: offset)
            return .data(Data(bytes[range]))
        case PropertyListMarker.asciiString:
            let range = try items(of: offset, size: 1)
            try budget.takeContent(range.count, at: offset)
            return .string(try text(String(validating: bytes[range], as: Unicode.ASCII.self), at: offset))
        case PropertyListMarker.utf16String:
            let range = try items(of: offset, size: 2)
            try budget.takeContent(range.count, at: offset)
            let units = stride(from: range.lowerBound, to: range.upperBound, by: 2)
                .lazy.map { [bytes] in UInt16(bytes[$0]) << 8 | UInt16(bytes[$0 + 1]) }
            let text = try text(String(validating: units, as: UTF16.self), at: offset)
            try budget.checkText(text, at: offset)
            return .string(text)
        case PropertyListMarker.array:
            return .array(try array(at: offset, depth: depth))
        case PropertyListMarker.dictionary:
            return .dictionary(try dictionary(at: offset, depth: depth))
        default:
            let name = "0x" + String(marker, radix: 16)
            throw PropertyListError(.unsupported, at: offset, "an object of the unsupported type \(name)")
        }
    }

    private mutating func array(at offset: Int, depth: Int) throws(PropertyListError) -> [PropertyList] {
        try enter(offset, depth: depth)
        let references = try items(of: offset, size: referenceSize)
        var elements: [PropertyList] = []
        for place in stride(from: references.lowerBound, to: references.upperBound, by: referenceSize) {
            elements.append(try referred(at: place, depth: depth + 1))
        }
        return elements
    }

    private mutating func dictionary(at offset: Int, depth: Int) throws(PropertyListError) -> [String: PropertyList] {
        try enter(offset, depth: depth)
        // All references to the keys come first, then those to the values in the same order.
        let references = try items(of: offset, size: 2 * referenceSize)
        let toValues = references.count / 2
        var members: [String: PropertyList] = [:]
        for place in stride(from: references.lowerBound, to: references.lowerBound + toValues, by: referenceSize) {
            guard case .string(let key) = try referred(at: place, depth: depth + 1) else {
                throw PropertyListError(.keyNotString, at: place, "a key that is not a string")
            }
            let member = try referred(at: place + toValues, depth: depth + 1)
            guard members.updateValue(member, forKey: key) == nil else {
                throw PropertyListError(.duplicateKey, at: place, "a key that stands twice")
            }
        }
        return members
    }

    /// Judges a container before it is gone into: not too deep, and not seen before.
    private mutating func enter(_ offset: Int, depth: Int) throws(PropertyListError) {
        try budget.checkDepth(depth, at: offset)
        guard containers.insert(offset).inserted else {
            throw PropertyListError(.sharedContainer, at: offset, "a container that is referred to twice")
        }
    }

    /// Reads what the reference at a place that was checked refers to.
    private mutating func referred(at place: Int, depth: Int) throws(PropertyListError) -> PropertyList {
        try value(bytes.bigEndian(at: place, size: referenceSize), referredAt: place, depth: depth)
    }

    /// Reads an integer: unsigned in 1, 2 and 4 bytes, signed in 8 and 16.
    private func integer(at offset: Int) throws(PropertyListError) -> Int {
        switch bytes[offset] & 0x0F {
        case let power where power <= 3:
            return Int(truncatingIfNeeded: try number(at: offset + 1, size: 1 << power))
        case 4:
            let high = Int64(bitPattern: try number(at: offset + 1, size: 8))
            let low = Int(truncatingIfNeeded: try number(at: offset + 9, size: 8))
            guard high == (low < 0 ? -1 : 0) else {
                throw PropertyListError(.integerOutOfRange, at: offset, "an integer of more than 64 bits")
            }
            return low
        default:
            throw malformed("an integer of a strange size", at: offset)
        }
    }

    /// Where the items of a string, of data or of a container are, checked to be there.
    private func items(of offset: Int, size: Int) throws(PropertyListError) -> Range<Int> {
        var count = UInt64(bytes[offset] & 0x0F)
        var start = offset + 1
        if count == PropertyListMarker.countFollows {
            let marker = try number(at: start, size: 1)
            guard (0x10...0x13).contains(marker) else { throw malformed("a count that is no integer", at: start) }
            let size = 1 << Int(marker & 0x0F)
            count = try number(at: start + 1, size: size)
            start += 1 + size
        }
        guard count <= (table - start) / size else { throw malformed("a length beyond the objects", at: offset) }
        return start..<start + Int(count) * size
    }

    /// Reads a number of 1 to 8 bytes among the objects.
    private func number(at offset: Int, size: Int) throws(PropertyListError) -> UInt64 {
        guard offset <= table, size <= table - offset else { throw malformed("an object cut short", at: offset) }
        return bytes.bigEndian(at: offset, size: size)
    }

    private func text(_ text: String?, at offset: Int) throws(PropertyListError) -> String {
        guard let text else { throw PropertyListError(.invalidText, at: offset, "text that is not valid") }
        return text
    }

    private func malformed(_ message: String, at offset: Int) -> PropertyListError {
        PropertyListError(.malformed, at: offset, message)
    }
}

extension [UInt8] {
    /// The big-endian number in 1 to 8 bytes, which the caller knows to be there.
    fileprivate func bigEndian(at offset: Int, size: Int) -> UInt64 {
        self[offset..<offset + size].reduce(0) { $0 << 8 | UInt64($1) }
    }
}
