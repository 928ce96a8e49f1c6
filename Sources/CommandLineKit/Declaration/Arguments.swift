/// What the user gave a verb.
///
/// Names are those of the declaration; asking for one that was not declared is a fault of the program and traps.
public struct Arguments: Sendable, Equatable {
    private let declared: Set<String>
    private var given: [String: [String]] = [:]

    init(verb: Verb) {
        declared = Set(verb.allOptions.map(\.name) + verb.positionals.map(\.name))
    }

    mutating func append(_ value: String, to name: String) {
        given[name, default: []].append(value)
    }

    /// Whether an option or a positional value was given.
    public func has(_ name: String) -> Bool { !values(name).isEmpty }

    /// All values that were given under a name, in order.
    public func values(_ name: String) -> [String] {
        precondition(declared.contains(name), "\(name) is not declared")
        return given[name, default: []]
    }

    /// The value of an option or an optional positional; nil where it was not given.
    public subscript(name: String) -> String? { values(name).first }

    /// The value of a required positional, which the parser has seen to.
    public func required(_ name: String) -> String {
        guard let value = self[name] else { preconditionFailure("\(name) is not declared as required") }
        return value
    }
}
