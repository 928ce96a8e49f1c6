/// Property lists in Apple's binary format, version "bplist00".
///
/// The bytes come from peers, so a reader of our own takes them: Foundation's spends minutes on a few hundred bytes
/// of nested or shared containers. Work and memory are bounded by the limits below whatever the bytes say, and the
/// writer keeps to the same limits, so that whatever one of us writes, every other reads.
public enum BinaryPropertyList {
    /// How many containers may stand in one another.
    public static let maximumDepth = 32
    /// How many values a list may hold, keys and containers included, a shared one counted at each reference.
    public static let maximumValues = 10_000
    /// How many bytes of text and data a list may hold, a shared string counted at each reference.
    ///
    /// Four times the largest frame: without it, ten thousand references to one string of 1 MiB would be 10 GiB.
    public static let maximumContent = 4 << 20
    /// How many combining marks may follow each other in text.
    ///
    /// Swift compares and hashes text in its normal form, and the sorting of a run of marks takes time by the square
    /// of its length: minutes for one key of 1 MiB. No language needs more than 30 (UAX #15, Stream-Safe Text Format).
    public static let maximumCombiningMarks = 256
    /// The dates that can be told, in seconds since 2001-01-01 00:00:00 UTC.
    ///
    /// From `Date.distantPast` to before the year 10000: what every calendar and formatter takes without overflow.
    public static let dates: Range<Double> = -63_114_076_800..<252_423_993_600

    /// Writes a value.
    ///
    /// The same value always gives the same bytes: a dictionary's keys are sorted by their UTF-8 bytes, sizes are the
    /// smallest that fit, and nothing is shared.
    ///
    /// - Throws: ``PropertyListError`` where the value is over a limit or holds a date that cannot be told.
    public static func encode(_ value: PropertyList) throws(PropertyListError) -> [UInt8] {
        var counter = PropertyListBudget()
        try counter.spend(on: value)
        var writer = BinaryPropertyListWriter(objectCount: counter.spentValues)
        return writer.list(of: value)
    }

    /// Reads a value.
    ///
    /// Text is taken as it stands or refused, never repaired. Objects that nothing refers to are not looked at.
    ///
    /// - Throws: ``PropertyListError`` where the bytes are not exactly one list within the limits.
    public static func decode(_ bytes: [UInt8]) throws(PropertyListError) -> PropertyList {
        var reader = try BinaryPropertyListReader(bytes)
        return try reader.list()
    }
}

/// The first byte of an object: its type in the upper half, its size or count in the lower.
enum PropertyListMarker {
    static let no: UInt8 = 0x08
    static let yes: UInt8 = 0x09
    static let integer: UInt8 = 0x10
    static let single: UInt8 = 0x22
    static let double: UInt8 = 0x23
    static let date: UInt8 = 0x33
    static let data: UInt8 = 0x40
    static let asciiString: UInt8 = 0x50
    static let utf16String: UInt8 = 0x60
    static let array: UInt8 = 0xA0
    static let dictionary: UInt8 = 0xD0

    /// In the lower half: the count is in an integer that follows.
    static let countFollows: UInt8 = 0x0F
    /// What a list begins with: the format's name and version.
    static let header = Array("bplist00".utf8)
    /// The length of what a list ends with: sizes, counts and the place of the offset table.
    static let trailerLength = 32
}
