public import FoundationEssentials

/// A note as lists show it, without its text.
public struct NoteSummary: Sendable, Hashable, Identifiable {
    /// The note's identity on all machines.
    public let id: UUID
    /// The note's name, one line.
    public let title: String
    /// The text's length in bytes of UTF-8.
    public let contentBytes: Int
    /// How many files belong to it.
    public let attachmentCount: Int
    /// When the note was first made; for display only.
    public let created: Date
    /// When its text was saved; for display only.
    public let modified: Date

    /// Whether the id begins with the digits of a text: four at least, in either case, with or without hyphens.
    func idBegins(with text: String) -> Bool {
        let digits = text.lowercased().filter { $0 != "-" }
        guard digits.count >= 4, digits.allSatisfy(\.isHexDigit) else { return false }
        return id.uuidString.lowercased().filter { $0 != "-" }.hasPrefix(digits)
    }
}

/// A text of a note that was replaced or removed.
public struct NoteRevision: Sendable, Hashable {
    /// What the revision is asked for by; later ones have higher numbers.
    public let number: Int64
    /// The title at that time.
    public let title: String
    /// The text's length in bytes of UTF-8.
    public let contentBytes: Int
    /// Which edits the text contained.
    public let version: VersionVector
    /// When another text took its place; for display only.
    public let replaced: Date
}

extension Note {
    /// Reads a row of id, title, content, version, hash, created, modified, deleted, attachments.
    init(row: Database.Row) throws {
        self.init(
            id: try row.uuid(0),
            title: row.text(1),
            content: row.text(2),
            attachments: try .init(stored: row.text(8)),
            version: try VersionVector(stored: row.text(3)),
            contentHash: row.blob(4),
            created: Date(timeIntervalSince1970: row.real(5)),
            modified: Date(timeIntervalSince1970: row.real(6)),
            isDeleted: row.integer(7) != 0
        )
    }
}

extension Database.Row {
    func uuid(_ column: CInt) throws -> UUID {
        let text = text(column)
        guard let id = UUID(uuidString: text) else {
            throw NotesStoreError(.corrupt, "the database holds “\(text)” for a note's id: restore it from a backup")
        }
        return id
    }
}

extension [Attachment] {
    /// Reads the form that the database has: a JSON array, which SQLite itself can look into.
    init(stored text: String) throws {
        do {
            self = try JSONDecoder().decode(Self.self, from: Data(text.utf8))
        } catch {
            throw NotesStoreError(.corrupt, "the database holds “\(text)” for attachments: restore it from a backup")
        }
    }

    /// The form that the database has.
    func stored() throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return String(decoding: try encoder.encode(self), as: UTF8.self)
    }
}

extension VersionVector {
    /// Reads the form that the database has, a JSON object, which `sqlite3` on the command line can read too.
    init(stored text: String) throws {
        do {
            self.init(counters: try JSONDecoder().decode([String: UInt64].self, from: Data(text.utf8)))
        } catch {
            throw NotesStoreError(.corrupt, "the database holds “\(text)” for a version: restore it from a backup")
        }
    }

    /// The form that the database has.
    ///
    /// - Throws: ``NotesStoreError`` `tooManyMachines` where no peer would take the vector.
    func stored() throws -> String {
        guard counters.count <= Self.maximumEntries else {
            throw NotesStoreError(
                .tooManyMachines,
                "the note was edited on more than \(Self.maximumEntries) machines: copy its text into a new note"
            )
        }
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        return String(decoding: try encoder.encode(counters), as: UTF8.self)
    }
}
