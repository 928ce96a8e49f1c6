import FoundationEssentials
import Handoff

/// A note as the payload of an activity (docs/protocol.md, "Notes").
enum NoteActivity {
    /// The app's id.
    static let app = "org.handoff.notes"
    /// The one activity type of the notes app.
    static let type = "org.handoff.notes.note"

    /// The keys without which there is no note.
    static let requiredKeys: Set<String> = ["id", "title", "content", "version"]

    /// What travels of a note.
    static func userInfo(_ note: Note) -> [String: PropertyList] {
        [
            "id": .string(note.id.uuidString), "title": .string(note.title), "content": .string(note.content),
            "created": .date(note.created), "modified": .date(note.modified),
            "version": .dictionary(note.version.wire.mapValues { .integer($0) }),
        ]
    }

    /// Reads a note that a peer sent, by the rules of the store.
    ///
    /// - Throws: ``HandoffError`` with the code `missingKey` naming the key that is missing or of the wrong type;
    ///   ``NotesStoreError`` where a text breaks a rule.
    static func note(_ userInfo: [String: PropertyList], hash: NoteHash) throws -> Note {
        func require<Value>(_ key: String, _ read: (PropertyList) -> Value?) throws -> Value {
            guard let value = userInfo[key].flatMap(read) else {
                throw HandoffError.missingKey(key)
            }
            return value
        }
        let version = try require("version") { value in
            value.dictionaryValue.flatMap { entries in
                let counters = entries.compactMapValues(\.integerValue)
                return counters.count == entries.count ? VersionVector(wire: counters) : nil
            }
        }
        return try Note(
            id: try require("id") { $0.stringValue.flatMap { UUID(uuidString: $0) } },
            title: try require("title", \.stringValue),
            content: try require("content", \.stringValue),
            version: version,
            created: userInfo["created"]?.dateValue ?? Date(),
            modified: userInfo["modified"]?.dateValue ?? Date(),
            hash: hash
        )
    }
}
