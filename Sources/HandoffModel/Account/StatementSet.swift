/// Statements of one kind that were found good: a set that only grows, but for those that are too many or too old.
///
/// Whatever order statements come in, and however often, whoever has seen the same ones keeps the same ones.
public struct StatementSet<Statement: AccountStatement>: Hashable, Sendable {
    private var entries: [Statement.Subject: Statement] = [:]

    /// Makes an empty set.
    public init() {}

    /// Makes a set of statements.
    public init(_ statements: some Sequence<Statement>) {
        for statement in statements { insert(statement) }
    }

    /// Adds a statement; of two about the same, the one with the higher rank stays, and of too many the lowest go.
    ///
    /// - Returns: True where it is in the set now and was not before.
    @discardableResult
    public mutating func insert(_ statement: Statement) -> Bool {
        if let present = entries[statement.subject], !Self.isLower(present, statement) { return false }
        entries[statement.subject] = statement
        guard entries.count > Statement.maximumCount, let lowest = entries.values.min(by: Self.isLower) else {
            return true
        }
        entries[lowest.subject] = nil
        return lowest != statement
    }

    /// Adds those of another set.
    public mutating func formUnion(_ other: StatementSet) {
        for statement in other.entries.values { insert(statement) }
    }

    /// Removes those of which something is true.
    public mutating func removeAll(where isOver: (Statement) -> Bool) {
        entries = entries.filter { !isOver($0.value) }
    }

    /// Those that another set has not.
    public func subtracting(_ other: StatementSet) -> StatementSet {
        var rest = self
        rest.entries = entries.filter { other.entries[$0.key] != $0.value }
        return rest
    }

    /// What is said about a subject; nil where nothing is.
    public subscript(subject: Statement.Subject) -> Statement? { entries[subject] }

    /// How many there are.
    public var count: Int { entries.count }
    /// Whether there are none.
    public var isEmpty: Bool { entries.isEmpty }
    /// All of them, the highest rank first.
    public var ordered: [Statement] { entries.values.sorted { Self.isLower($1, $0) } }

    private static func isLower(_ left: Statement, _ right: Statement) -> Bool {
        left.rank.lexicographicallyPrecedes(right.rank)
    }
}
