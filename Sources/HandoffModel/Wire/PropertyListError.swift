/// Why bytes are not a property list that we read, or a value not one that we write.
public struct PropertyListError: Error, Equatable, CustomStringConvertible {
    /// The kinds of failure.
    public struct Code: Hashable, Sendable {
        private enum Kind {
            case malformed, unsupported, tooDeep, tooManyValues, tooLarge, sharedContainer
            case keyNotString, duplicateKey, integerOutOfRange, invalidText, invalidDate
        }

        private let kind: Kind

        /// The header, the trailer, an offset, a reference or a length does not fit the bytes.
        public static let malformed = Code(kind: .malformed)
        /// A type that this reader leaves out: null, fill, URL, UUID, UID, set, UTF-8 string.
        public static let unsupported = Code(kind: .unsupported)
        /// More containers in one another than `BinaryPropertyList.maximumDepth`.
        public static let tooDeep = Code(kind: .tooDeep)
        /// More values and keys than `BinaryPropertyList.maximumValues`.
        public static let tooManyValues = Code(kind: .tooManyValues)
        /// More text and data than `BinaryPropertyList.maximumContent`.
        public static let tooLarge = Code(kind: .tooLarge)
        /// A container that is referred to twice, perhaps by itself.
        public static let sharedContainer = Code(kind: .sharedContainer)
        /// A dictionary's key that is not a string.
        public static let keyNotString = Code(kind: .keyNotString)
        /// A dictionary with two keys that are equal, canonically equivalent ones included.
        public static let duplicateKey = Code(kind: .duplicateKey)
        /// An integer of 16 bytes that does not fit 64 bits with sign.
        public static let integerOutOfRange = Code(kind: .integerOutOfRange)
        /// Text that is not ASCII where it claims to be, holds half a surrogate pair, or has more combining marks in a
        /// row than `BinaryPropertyList.maximumCombiningMarks`.
        public static let invalidText = Code(kind: .invalidText)
        /// A date that is no moment (NaN, infinite) or outside of `BinaryPropertyList.dates`.
        public static let invalidDate = Code(kind: .invalidDate)
    }

    /// The kind of failure.
    public let code: Code
    /// Where in the input it was found; nil for a value that cannot be written.
    public let offset: Int?
    /// What is wrong, in a few words that hold nothing of the content.
    public let message: String

    init(_ code: Code, at offset: Int?, _ message: String) {
        self.code = code
        self.offset = offset
        self.message = message
    }

    /// Two failures are equal when their kind is.
    public static func == (left: PropertyListError, right: PropertyListError) -> Bool { left.code == right.code }

    /// What is wrong, and where.
    public var description: String {
        guard let offset else { return "property list: \(message)" }
        return "property list: \(message) at byte \(offset)"
    }
}
