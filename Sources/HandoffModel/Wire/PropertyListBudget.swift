import FoundationEssentials

/// What is left of the limits while a list is read or written.
///
/// One type judges both ways, so that the writer and the reader cannot disagree.
struct PropertyListBudget {
    private var values = BinaryPropertyList.maximumValues
    private var content = BinaryPropertyList.maximumContent

    /// How many values were taken so far.
    var spentValues: Int { BinaryPropertyList.maximumValues - values }

    /// Takes one value or key.
    mutating func takeValue(at offset: Int?) throws(PropertyListError) {
        guard values > 0 else {
            throw PropertyListError(.tooManyValues, at: offset, "over \(BinaryPropertyList.maximumValues) values")
        }
        values -= 1
    }

    /// Takes the bytes of a string or of data as the list holds them.
    mutating func takeContent(_ count: Int, at offset: Int?) throws(PropertyListError) {
        guard count <= content else {
            throw PropertyListError(.tooLarge, at: offset, "over \(BinaryPropertyList.maximumContent) bytes of content")
        }
        content -= count
    }

    /// Judges a container that stands in `depth` others.
    func checkDepth(_ depth: Int, at offset: Int?) throws(PropertyListError) {
        guard depth < BinaryPropertyList.maximumDepth else {
            throw PropertyListError(.tooDeep, at: offset, "over \(BinaryPropertyList.maximumDepth) levels")
        }
    }

    /// Judges text by how long comparing it may take.
    func checkText(_ text: String, at offset: Int?) throws(PropertyListError) {
        var marks = 0
        for scalar in text.unicodeScalars {
            // There are no marks before U+0300, and asking for properties takes its time.
            let isMark = scalar.value >= 0x300 && scalar.properties.canonicalCombiningClass != .notReordered
            marks = isMark ? marks + 1 : 0
            guard marks <= BinaryPropertyList.maximumCombiningMarks else {
                throw PropertyListError(.invalidText, at: offset, "too many combining marks in a row")
            }
        }
    }

    /// Judges a date, given in seconds since 2001.
    func checkDate(_ seconds: Double, at offset: Int?) throws(PropertyListError) {
        guard BinaryPropertyList.dates.contains(seconds) else {
            throw PropertyListError(.invalidDate, at: offset, "a date outside of the calendar")
        }
    }

    /// Takes everything that a value will be written as.
    mutating func spend(on value: PropertyList, depth: Int = 0) throws(PropertyListError) {
        try takeValue(at: nil)
        switch value {
        case .integer, .real, .boolean:
            break
        case .date(let date):
            try checkDate(date.timeIntervalSinceReferenceDate, at: nil)
        case .string(let text):
            try takeContent(text.propertyListLength, at: nil)
            try checkText(text, at: nil)
        case .data(let data):
            try takeContent(data.count, at: nil)
        case .array(let elements):
            try checkDepth(depth, at: nil)
            for element in elements { try spend(on: element, depth: depth + 1) }
        case .dictionary(let members):
            try checkDepth(depth, at: nil)
            for (key, member) in members {
                try spend(on: .string(key), depth: depth + 1)
                try spend(on: member, depth: depth + 1)
            }
        }
    }
}

extension String {
    /// Whether the text can be written with one byte a character.
    var isASCII: Bool { utf8.allSatisfy { $0 < 0x80 } }

    /// The bytes that the text takes in a list: ASCII, or else UTF-16.
    fileprivate var propertyListLength: Int { isASCII ? utf8.count : 2 * utf16.count }
}
