/// Why the notes store could not do what it was asked to.
///
/// Errors are equal when their codes are; the message is a sentence for the user that says what to do next.
public struct NotesStoreError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The kind of a failure.
    public struct Code: Sendable, Hashable, CustomStringConvertible {
        private enum Kind: String {
            case directoryUnusable, cannotOpen, readOnly, locked, notADatabase, foreignDatabase, newerSchema, corrupt
            case diskFull, inputOutput, internalFailure, closed
            case invalidTitle, invalidContent, invalidText, tooManyMachines
            case notFound, ambiguous, draftExists, draftUnusable
            case invalidAttachment, attachmentExists, attachmentMissing
        }

        private let kind: Kind

        /// The code's name, for logs.
        public var description: String { kind.rawValue }

        /// The data directory is missing and cannot be made, or is no directory.
        public static let directoryUnusable = Code(kind: .directoryUnusable)
        /// The database file cannot be opened or made.
        public static let cannotOpen = Code(kind: .cannotOpen)
        /// The database file or its directory does not allow writing.
        public static let readOnly = Code(kind: .readOnly)
        /// Another program held the database for longer than the busy timeout.
        public static let locked = Code(kind: .locked)
        /// The file is not an SQLite database.
        public static let notADatabase = Code(kind: .notADatabase)
        /// The file is another program's database.
        public static let foreignDatabase = Code(kind: .foreignDatabase)
        /// The database was written by a newer version of this program.
        public static let newerSchema = Code(kind: .newerSchema)
        /// The database file is damaged.
        public static let corrupt = Code(kind: .corrupt)
        /// There is no room to write; nothing was changed.
        public static let diskFull = Code(kind: .diskFull)
        /// Reading or writing the file failed below SQLite.
        public static let inputOutput = Code(kind: .inputOutput)
        /// SQLite refused a statement: a fault of this program.
        public static let internalFailure = Code(kind: .internalFailure)
        /// The store was closed before.
        public static let closed = Code(kind: .closed)
        /// A title is blank, too long, or has control characters.
        public static let invalidTitle = Code(kind: .invalidTitle)
        /// A text is too long or has a NUL character.
        public static let invalidContent = Code(kind: .invalidContent)
        /// Bytes are not UTF-8.
        public static let invalidText = Code(kind: .invalidText)
        /// A note has been carried by more machines than a version vector holds.
        public static let tooManyMachines = Code(kind: .tooManyMachines)
        /// No note fits.
        public static let notFound = Code(kind: .notFound)
        /// More than one note fits; the message lists them.
        public static let ambiguous = Code(kind: .ambiguous)
        /// The note has a working file already: another editor's, or one that a crash left.
        public static let draftExists = Code(kind: .draftExists)
        /// An editor's working file cannot be made or read.
        public static let draftUnusable = Code(kind: .draftUnusable)
        /// An attachment's name or size breaks a rule, or a note has too many.
        public static let invalidAttachment = Code(kind: .invalidAttachment)
        /// The note has another attachment of that name.
        public static let attachmentExists = Code(kind: .attachmentExists)
        /// An attachment's content is not on this machine.
        public static let attachmentMissing = Code(kind: .attachmentMissing)
    }

    /// The kind of failure.
    public let code: Code
    /// What happened and what to do about it, for the user.
    public let message: String

    /// Makes an error.
    ///
    /// - Parameters:
    ///   - code: The kind of failure.
    ///   - message: What happened and what to do about it.
    public init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    /// Two errors are equal when their codes are.
    public static func == (left: NotesStoreError, right: NotesStoreError) -> Bool { left.code == right.code }

    /// The message.
    public var description: String { message }
}
