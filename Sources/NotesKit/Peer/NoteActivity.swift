import FoundationEssentials
import Handoff
import HandoffSupport

/// A note as the payload of an activity (docs/protocol.md, "Notes").
enum NoteActivity {
    /// The app's id.
    static let app = "org.handoff.notes"
    /// The one activity type of the notes app.
    static let type = "org.handoff.notes.note"

    /// The keys without which there is no note; its text may come by a stream.
    static let requiredKeys: Set<String> = ["id", "title", "version"]

    /// What travels of a note; without its text, where that is too large for userInfo.
    static func userInfo(_ note: Note) throws -> [String: PropertyList] {
        var userInfo: [String: PropertyList] = [
            "id": .string(note.id.uuidString), "title": .string(note.title), "content": .string(note.content),
            "created": .date(note.created), "modified": .date(note.modified),
            "version": .dictionary(note.version.wire.mapValues { .integer($0) }),
        ]
        if !note.attachments.isEmpty { userInfo["attachments"] = .array(note.attachments.map(\.propertyList)) }
        guard try BinaryPropertyList.encode(.dictionary(userInfo)).count > ActivityPayload.maximumUserInfoSize else {
            return userInfo
        }
        userInfo["content"] = nil
        userInfo["contentSize"] = .integer(note.content.utf8.count)
        userInfo["hash"] = .data(Data(note.contentHash))
        return userInfo
    }

    /// The text that is to be read from a stream; nil where it is in userInfo.
    ///
    /// - Throws: ``HandoffError`` with the code `missingKey` where neither is there.
    static func streamedText(_ userInfo: [String: PropertyList]) throws(HandoffError) -> (size: Int, hash: [UInt8])? {
        guard userInfo["content"] == nil else { return nil }
        guard let size = userInfo["contentSize"]?.integerValue, let hash = userInfo["hash"]?.dataValue else {
            throw .missingKey("content")
        }
        guard (0...NoteText.maximumContentBytes).contains(size) else {
            throw HandoffError(.userInfoTooLarge, "the note's text has \(size) bytes: is the peer's app broken?")
        }
        return (size, Array(hash))
    }

    /// The note that an activity is about.
    static func noteID(_ activity: ContinuedActivity) -> UUID? {
        activity.targetContentIdentifier.flatMap { UUID(uuidString: $0) }
    }

    /// Reads the version of a note.
    ///
    /// - Throws: ``HandoffError`` with the code `missingKey`.
    static func version(_ userInfo: [String: PropertyList]) throws(HandoffError) -> VersionVector {
        guard let entries = userInfo["version"]?.dictionaryValue,
            case let counters = entries.compactMapValues(\.integerValue), counters.count == entries.count,
            let version = VersionVector(wire: counters)
        else { throw .missingKey("version") }
        return version
    }

    /// Reads a note that a peer sent, by the rules of the store.
    ///
    /// - Throws: ``HandoffError`` with the code `missingKey` naming the key that is missing or of the wrong type;
    ///   ``NotesStoreError`` where a text breaks a rule.
    static func note(_ userInfo: [String: PropertyList], hash: NoteHash) throws -> Note {
        func require<Value>(_ key: String, _ read: (PropertyList) -> Value?) throws(HandoffError) -> Value {
            guard let value = userInfo[key].flatMap(read) else { throw .missingKey(key) }
            return value
        }
        var attachments: [Attachment] = []
        if userInfo["attachments"] != nil {
            attachments = try require("attachments", \.arrayValue).map { try Attachment(propertyList: $0) }
        }
        return try Note(
            id: try require("id") { $0.stringValue.flatMap { UUID(uuidString: $0) } },
            title: try require("title", \.stringValue),
            content: try require("content", \.stringValue),
            attachments: attachments,
            version: version(userInfo),
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
