/// Which edits a note contains: for each machine, how many of its saves.
///
/// Vectors are compared, never clocks: a note whose vector contains another's has seen all its edits, and two that each
/// have an edit the other lacks are concurrent. A machine without an entry counts as zero, and zero is not stored.
public struct VersionVector: Sendable, Hashable {
    /// How two vectors stand to each other.
    public enum Relation: Sendable, Hashable {
        /// Both contain the same edits.
        case equal
        /// The first contains all edits of the second, and more.
        case dominates
        /// The second contains all edits of the first, and more.
        case dominated
        /// Each contains an edit that the other lacks.
        case concurrent
    }

    /// The most machines that a note may be carried by; far above the machines of one person.
    public static let maximumEntries = 1_000
    /// The longest machine id, in bytes of UTF-8; a UUID has 36.
    public static let maximumKeyBytes = 64
    /// The highest counter that is taken from a peer; a note saved once a millisecond gets there in 285,000 years.
    public static let maximumCounter: UInt64 = 1 << 53

    /// Each machine's count of saves, by machine id.
    public private(set) var counters: [String: UInt64]

    /// Makes the vector that contains no edit.
    public init() {
        counters = [:]
    }

    /// Makes a vector of counters that are known to be good; zeros are dropped.
    init(counters: [String: UInt64]) {
        self.counters = counters.filter { $0.value > 0 }
    }

    /// Reads the form that a vector has on the wire.
    ///
    /// - Returns: The vector, or nil where it has more than ``maximumEntries``, a machine id that is empty, longer than
    ///   ``maximumKeyBytes`` or not printable ASCII, or a counter that is negative or over ``maximumCounter``.
    public init?(wire: [String: Int]) {
        guard wire.count <= Self.maximumEntries else { return nil }
        var counters: [String: UInt64] = [:]
        for (machine, counter) in wire {
            guard (1...Self.maximumKeyBytes).contains(machine.utf8.count),
                machine.utf8.allSatisfy({ (0x21...0x7E).contains($0) }),
                let counter = UInt64(exactly: counter), counter <= Self.maximumCounter
            else { return nil }
            counters[machine] = counter
        }
        self.init(counters: counters)
    }

    /// The form that a vector has on the wire, where property lists know signed integers only.
    public var wire: [String: Int] {
        counters.mapValues(Int.init(clamping:))
    }

    /// How this vector stands to another.
    public func compared(to other: VersionVector) -> Relation {
        let hasMore = counters.contains { $0.value > other.counters[$0.key, default: 0] }
        let hasLess = other.counters.contains { $0.value > counters[$0.key, default: 0] }
        switch (hasMore, hasLess) {
        case (false, false): return .equal
        case (true, false): return .dominates
        case (false, true): return .dominated
        case (true, true): return .concurrent
        }
    }

    /// The least vector that contains the edits of both.
    public func merged(with other: VersionVector) -> VersionVector {
        VersionVector(counters: counters.merging(other.counters, uniquingKeysWith: max))
    }

    /// The vector after one more save on a machine.
    ///
    /// A counter at its end stays there: the save is then concurrent to others, which loses no text.
    public func incremented(for machine: String) -> VersionVector {
        var result = self
        let counter = counters[machine, default: 0]
        result.counters[machine] = counter < UInt64.max ? counter + 1 : counter
        return result
    }

    /// The vector of a conflict copy whose text had this vector in the note it lost.
    ///
    /// A copy is a note of its own, so the saves of the note it came from are moved under other keys. Were they kept
    /// under the machines' ids, a later save of the *note* could pass for a newer save of the *copy*, and would
    /// overwrite what the user has written into the copy.
    var inherited: VersionVector {
        let moved = counters.map { machine, counter in
            (machine.hasPrefix(Self.inheritedPrefix) ? machine : Self.inheritedPrefix + machine, counter)
        }
        return VersionVector(counters: Dictionary(moved, uniquingKeysWith: max))
    }

    private static let inheritedPrefix = "~"
}
