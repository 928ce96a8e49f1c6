/// What the shell offers for a value when the user presses the tab key.
public enum Completion: Sendable, Hashable {
    /// Nothing.
    case none
    /// Names of files.
    case file
    /// One of these; any other value is a usage error.
    case choices([String])
    /// The lines that a shell command prints.
    case lines(of: String)
}

/// An option of a verb: `--name`, or `--name VALUE`.
public struct Option: Sendable {
    enum Kind: Sendable { case flag, value, repeated }

    /// The name, without hyphens.
    public let name: String
    /// One more letter that stands for it, after one hyphen.
    public let short: Character?
    /// One line of help.
    public let summary: String
    let kind: Kind
    /// What the value is called in help texts, in capitals; empty for a flag.
    let placeholder: String
    let completion: Completion

    /// An option without a value, given or not.
    public static func flag(_ name: String, short: Character? = nil, _ summary: String) -> Option {
        Option(name: name, short: short, summary: summary, kind: .flag, placeholder: "", completion: .none)
    }

    /// An option with a value, given once at most, or as often as one likes where `repeats` is set.
    public static func value(
        _ name: String,
        short: Character? = nil,
        _ placeholder: String,
        _ summary: String,
        repeats: Bool = false,
        completion: Completion = .none
    ) -> Option {
        Option(
            name: name,
            short: short,
            summary: summary,
            kind: repeats ? .repeated : .value,
            placeholder: placeholder,
            completion: completion
        )
    }

    static let help = flag("help", short: "h", "Show this help")
}

/// A value that a verb takes by its place.
public struct Positional: Sendable {
    enum Kind: Sendable { case required, optional, variadic }

    /// What the value is called, in capitals.
    public let name: String
    /// One line of help.
    public let summary: String
    let kind: Kind
    let completion: Completion

    /// A value that has to be given.
    public static func required(_ name: String, _ summary: String, completion: Completion = .none) -> Positional {
        Positional(name: name, summary: summary, kind: .required, completion: completion)
    }

    /// A value that may be given; after all required ones.
    public static func optional(_ name: String, _ summary: String, completion: Completion = .none) -> Positional {
        Positional(name: name, summary: summary, kind: .optional, completion: completion)
    }

    /// Any number of values, none too; the last of a verb's.
    public static func variadic(_ name: String, _ summary: String, completion: Completion = .none) -> Positional {
        Positional(name: name, summary: summary, kind: .variadic, completion: completion)
    }

    /// The name as a usage line shows it.
    var usage: String {
        switch kind {
        case .required: name
        case .optional: "[\(name)]"
        case .variadic: "[\(name)...]"
        }
    }
}

/// A call that shows how a verb is used.
public struct Example: Sendable {
    /// The whole call.
    public let call: String
    /// What it does.
    public let summary: String

    /// Makes an example.
    public init(_ call: String, _ summary: String) {
        self.call = call
        self.summary = summary
    }
}

/// One thing that a program does: how it is called, what its help says, and the code that does it.
///
///     Verb("edit", "Edit a note in your editor",
///          positionals: [.required("NOTE", "Id, or title")],
///          options: [.value("editor", short: "e", "PROGRAM", "Use this editor")],
///          examples: [Example("notes edit Groceries", "Edit the note named Groceries")]
///     ) { arguments in
///         try await edit(arguments["NOTE"], with: arguments["editor"])
///     }
///
/// Options may stand before and after positional values. The name may be of two words: `account invite`.
public struct Verb: Sendable {
    /// What the user types.
    public let name: String
    /// One line of help, without a full stop.
    public let summary: String
    /// More to know, in paragraphs of the help text.
    public let discussion: String
    /// The values it takes by place.
    public let positionals: [Positional]
    /// The options it takes, besides `--help`.
    public let options: [Option]
    /// Calls that show how it is used.
    public let examples: [Example]
    let run: @Sendable (Arguments) async throws -> ExitCode

    /// Declares a verb.
    ///
    /// - Parameters:
    ///   - name: What the user types; one or two words.
    ///   - summary: One line of help, without a full stop.
    ///   - discussion: More to know, in paragraphs.
    ///   - positionals: The values it takes by place.
    ///   - options: The options it takes, besides `--help`.
    ///   - examples: Calls that show how it is used.
    ///   - run: Does it. An error that it throws is shown on stderr.
    public init(
        _ name: String,
        _ summary: String,
        discussion: String = "",
        positionals: [Positional] = [],
        options: [Option] = [],
        examples: [Example] = [],
        run: @escaping @Sendable (Arguments) async throws -> ExitCode
    ) {
        self.name = name
        self.summary = summary
        self.discussion = discussion
        self.positionals = positionals
        self.options = options
        self.examples = examples
        self.run = run
    }

    var words: [String] { name.split(separator: " ").map(String.init) }

    var allOptions: [Option] { options + [.help] }
}
