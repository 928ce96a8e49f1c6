public import FoundationEssentials

/// A value that can travel: what messages are made of, and what an activity's userInfo may hold.
///
/// The types are those of Apple's property lists. Nothing is converted on the way: an integer is never read as a
/// real, nor a boolean as an integer.
public enum PropertyList: Hashable, Sendable {
    /// Text, which may hold any Unicode scalar, also U+0000.
    case string(String)
    /// A whole number of 64 bits with sign.
    case integer(Int)
    /// A floating-point number, infinities and NaN included; its bits are kept.
    case real(Double)
    /// True or false.
    case boolean(Bool)
    /// A moment between `Date.distantPast` and the end of the year 9999.
    case date(Date)
    /// Bytes.
    case data(Data)
    /// Values in order.
    case array([PropertyList])
    /// Values by name.
    case dictionary([String: PropertyList])
}

extension PropertyList {
    /// The text, or nil where the value is something else.
    public var stringValue: String? {
        if case .string(let value) = self { value } else { nil }
    }

    /// The whole number, or nil where the value is something else.
    public var integerValue: Int? {
        if case .integer(let value) = self { value } else { nil }
    }

    /// The floating-point number, or nil where the value is something else.
    public var realValue: Double? {
        if case .real(let value) = self { value } else { nil }
    }

    /// The truth value, or nil where the value is something else.
    public var booleanValue: Bool? {
        if case .boolean(let value) = self { value } else { nil }
    }

    /// The moment, or nil where the value is something else.
    public var dateValue: Date? {
        if case .date(let value) = self { value } else { nil }
    }

    /// The bytes, or nil where the value is something else.
    public var dataValue: Data? {
        if case .data(let value) = self { value } else { nil }
    }

    /// The elements, or nil where the value is something else.
    public var arrayValue: [PropertyList]? {
        if case .array(let value) = self { value } else { nil }
    }

    /// The values by name, or nil where the value is something else.
    public var dictionaryValue: [String: PropertyList]? {
        if case .dictionary(let value) = self { value } else { nil }
    }

    /// The value of that name, or nil where there is none or this is not a dictionary.
    public subscript(key: String) -> PropertyList? { dictionaryValue?[key] }
}

extension PropertyList: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral,
    ExpressibleByBooleanLiteral, ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
    /// Makes a string.
    public init(stringLiteral value: String) { self = .string(value) }

    /// Makes an integer.
    public init(integerLiteral value: Int) { self = .integer(value) }

    /// Makes a real.
    public init(floatLiteral value: Double) { self = .real(value) }

    /// Makes a boolean.
    public init(booleanLiteral value: Bool) { self = .boolean(value) }

    /// Makes an array.
    public init(arrayLiteral elements: PropertyList...) { self = .array(elements) }

    /// Makes a dictionary; as in any Swift dictionary literal, a key that stands twice is a programming error.
    public init(dictionaryLiteral elements: (String, PropertyList)...) {
        self = .dictionary(Dictionary(uniqueKeysWithValues: elements))
    }
}
