import FoundationEssentials
import Handoff
import HandoffSupport

/// A note as the payload of an activity (docs/protocol.md, "Notes").
enum NoteActivity {
    /// The app's id.
    static let app = "org.handoff.notes"
    /// The one activity type of the notes app.
    static let type = "org.handoff.notes.note"

    /// What travels of a note.
    static func userInfo(_ note: Note) -> [String: PropertyList] {
        var userInfo: [String: PropertyList] = [
            "id": .string(note.id.uuidString), "title": .string(note.title), "content": .string(note.content),
            "created": .date(note.created), "modified": .date(note.modified),
            "version": .dictionary(note.version.wire.mapValues { .integer($0) }),
        ]
        if !note.attachments.isEmpty { userInfo["attachments"] = .array(note.attachments.map(\.propertyList)) }
        return userInfo
    }

    /// Reads a note that a peer sent, by the rules of the store.
    ///
    /// - Throws: ``HandoffError`` with the code `missingKey` naming the key that is missing or of the wrong type;
    ///   ``NotesStoreError`` where a text breaks a rule.
    static func note(_ userInfo: [String: PropertyList], hash: NoteHash) throws -> Note {
        func require<Value>(
            _ key: String,
            orElse absent: Value? = nil,
            _ read: (PropertyList) throws -> Value?
        ) throws -> Value {
            if let absent, userInfo[key] == nil { return absent }
            guard let value = try userInfo[key].flatMap(read) else {
                throw HandoffError(.missingKey, "the peer's note has no proper \"\(key)\": is its app newer or broken?")
            }
            return value
        }
        let version = try require("version") { value in
            value.dictionaryValue.flatMap { entries in
                let counters = entries.compactMapValues(\.integerValue)
                return counters.count == entries.count ? VersionVector(wire: counters) : nil
            }
        }
        let attachments = try require("attachments", orElse: []) { value in
            try value.arrayValue?.map { try Attachment(propertyList: $0) }
        }
        return try Note(
            id: try require("id") { $0.stringValue.flatMap { UUID(uuidString: $0) } },
            title: try require("title", \.stringValue),
            content: try require("content", \.stringValue),
            attachments: attachments,
            version: version,
            created: userInfo["created"]?.dateValue ?? Date(),
            modified: userInfo["modified"]?.dateValue ?? Date(),
            hash: hash
        )
    }
}

extension Attachment {
    fileprivate var propertyList: PropertyList {
        .dictionary(["name": .string(name), "size": .integer(Int(size)), "sha256": .data(Data(digest.bytes))])
    }

    fileprivate init(propertyList: PropertyList) throws {
        guard let name = propertyList["name"]?.stringValue, let size = propertyList["size"]?.integerValue,
            let digest = propertyList["sha256"]?.dataValue.flatMap({ ContentDigest(bytes: Array($0)) })
        else { throw HandoffError.missingKey("attachments") }
        try self.init(name: name, size: Int64(size), digest: digest)
    }
}
