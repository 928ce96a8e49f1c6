import Foundation
import HandoffModel
import HandoffTestKit
import Testing

@Suite("Binary property lists")
struct BinaryPropertyListTests {
    @Test("What is written is read back", arguments: PropertyListSamples.corners)
    func roundTrip(value: PropertyList) throws {
        #expect(try BinaryPropertyList.decode(BinaryPropertyList.encode(value)) == value)
    }

    @Test("Random values are read back")
    func randomRoundTrip() throws {
        var generator = SeededGenerator(seed: 1)
        for _ in 0..<150 {
            let value = PropertyListSamples.random(using: &generator)
            #expect(try BinaryPropertyList.decode(BinaryPropertyList.encode(value)) == value)
        }
    }

    @Test(
        "A NaN keeps its bits, and so does the sign of zero",
        arguments: [0x7FF8_0000_0000_0001, 0xFFF8_0000_0000_0000, 0x8000_0000_0000_0000]
    )
    func realBits(bits: UInt64) throws {
        let value = try BinaryPropertyList.decode(BinaryPropertyList.encode(.real(Double(bitPattern: bits))))
        #expect(value.realValue?.bitPattern == bits)
    }

    @Test("The bytes of a dictionary do not depend on the order in which it was filled")
    func reproducible() throws {
        let keys = (0..<200).map { "key \($0)" }
        let forward = Dictionary(uniqueKeysWithValues: keys.map { ($0, PropertyList.string($0)) })
        var backward = Dictionary<String, PropertyList>(minimumCapacity: 5_000)
        for key in keys.reversed() { backward[key] = .string(key) }
        #expect(
            try BinaryPropertyList.encode(.dictionary(forward)) == BinaryPropertyList.encode(.dictionary(backward))
        )
    }

    @Test("A small list has the bytes of the specification")
    func knownBytes() throws {
        let header = Array("bplist00".utf8)
        let objects: [UInt8] = [0x51, 0x61, 0x10, 0x05, 0xD1, 0x00, 0x01]
        let table: [UInt8] = [8, 10, 12]
        let trailer: [UInt8] = [
            0, 0, 0, 0, 0, 0, 1, 1, 0, 0, 0, 0, 0, 0, 0, 3, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 15,
        ]
        #expect(try BinaryPropertyList.encode(["a": 5]) == header + objects + table + trailer)
    }

    @Test(
        "An integer takes 1, 2, 4 or 8 bytes, the fewest that hold it",
        arguments: [
            (0, 1), (127, 1), (128, 1), (255, 1), (256, 2), (65_535, 2), (65_536, 4), (0xFFFF_FFFF, 4),
            (0x1_0000_0000, 8), (.max, 8), (-1, 8), (.min, 8),
        ] as [(Int, Int)]
    )
    func integerSizes(value: Int, size: Int) throws {
        // Around the number are its marker, the header, the offset table's one entry and the trailer.
        #expect(try BinaryPropertyList.encode(.integer(value)).count == size + 1 + 8 + 1 + 32)
    }

    @Test("Dates from the distant past to the year 9999 can be told")
    func dates() throws {
        let latest = Date(timeIntervalSinceReferenceDate: BinaryPropertyList.dates.upperBound.nextDown)
        for date in [Date.distantPast, Date.distantFuture, latest] {
            #expect(try BinaryPropertyList.decode(BinaryPropertyList.encode(.date(date))) == .date(date))
        }
    }

    @Test("The writer refuses what the reader would not take")
    func writerLimits() throws {
        let tooDeep = PropertyListSamples.deep(33)
        let dictionary = (0..<33).reduce(PropertyList.dictionary([:])) { inner, _ in ["": inner] }
        let tooMany = PropertyList.array(Array(repeating: 0, count: 10_000))
        let text = PropertyList.string(String(repeating: "ü", count: 1 << 20))
        let data = PropertyList.data(Data(count: (4 << 20) + 1))
        #expect(encodingRefusal(of: tooDeep) == .tooDeep)
        #expect(encodingRefusal(of: dictionary) == .tooDeep)
        #expect(encodingRefusal(of: tooMany) == .tooManyValues)
        #expect(encodingRefusal(of: [text, text, "a"]) == .tooLarge)
        #expect(encodingRefusal(of: data) == .tooLarge)
        let marks = PropertyList.string(String(repeating: "\u{301}", count: 257))
        #expect(encodingRefusal(of: marks) == .invalidText)
        for seconds in [Double.nan, .infinity, -.infinity, 1e300, BinaryPropertyList.dates.upperBound] {
            let date = PropertyList.date(Date(timeIntervalSinceReferenceDate: seconds))
            #expect(encodingRefusal(of: date) == .invalidDate)
        }
    }

    @Test("The limits themselves can be written and read")
    func limits() throws {
        let values: [PropertyList] = [.array(Array(repeating: 0, count: 9_999)), .data(Data(count: 4 << 20))]
        for value in values {
            #expect(try BinaryPropertyList.decode(BinaryPropertyList.encode(value)) == value)
        }
    }

    @Test("Accessors give the value of their own type and nil for every other")
    func accessors() {
        let date = Date(timeIntervalSinceReferenceDate: 5)
        let value: PropertyList = [
            "string": "text", "integer": 1, "real": 1.5, "boolean": true, "array": [1],
            "date": .date(date), "data": .data(Data([1])), "dictionary": ["key": 1],
        ]
        for (name, member) in value.dictionaryValue ?? [:] {
            #expect(member.stringValue == (name == "string" ? "text" : nil))
            #expect(member.integerValue == (name == "integer" ? 1 : nil))
            #expect(member.realValue == (name == "real" ? 1.5 : nil))
            #expect(member.booleanValue == (name == "boolean" ? true : nil))
            #expect(member.dateValue == (name == "date" ? date : nil))
            #expect(member.dataValue == (name == "data" ? Data([1]) : nil))
            #expect(member.arrayValue == (name == "array" ? [1] : nil))
            #expect(member["key"] == (name == "dictionary" ? 1 : nil))
        }
        #expect(value.dictionaryValue?.count == 8)
        #expect(value["nothing"] == nil)
    }
}

/// Why a value is not written, or nil where it is.
private func encodingRefusal(of value: PropertyList) -> PropertyListError.Code? {
    do {
        _ = try BinaryPropertyList.encode(value)
        return nil
    } catch {
        return error.code
    }
}
