import FoundationEssentials
import Glibc
import Testing

@testable import NotesKit

/// Stands in for SHA-256, which belongs to another module: four FNV-1a hashes with different beginnings.
let testHash: NoteHash = { bytes in
    let words = (bytes + [UInt8(bytes.count & 7)] + [UInt8](repeating: 0, count: 7)).withUnsafeBytes { padded in
        stride(from: 0, to: padded.count - 7, by: 8).map { padded.loadUnaligned(fromByteOffset: $0, as: UInt64.self) }
    }
    return (UInt64(1)...4).flatMap { lane in
        let value = words.reduce(0xCBF2_9CE4_8422_2325 &* (lane | 1) &+ lane) { hash, word in
            let mixed = (hash ^ word) &* 0x100_0000_01B3
            return mixed ^ (mixed >> 29)
        }
        return withUnsafeBytes(of: value) { Array($0) }
    }
}

/// Swift Testing has a type of that name, too.
typealias Attachment = NotesKit.Attachment

/// A directory for one test, removed with everything in it.
final class TemporaryDirectory: Sendable {
    let path: String

    init() throws {
        var template = Array("\(FileManager.default.temporaryDirectory.path)/notes-XXXXXX".utf8CString)
        path = try String(cString: #require(mkdtemp(&template)))
    }

    deinit {
        try? FileManager.default.removeItem(atPath: path)
    }

    var database: String { path + "/data/notes.db" }

    func openStore(
        machine: String = "A",
        at path: String? = nil,
        busyTimeout: Duration = NotesStore.busyTimeout,
        now: Double = 1_000
    ) async throws -> NotesStore {
        try await NotesStore.open(
            path: path ?? database,
            hash: testHash,
            now: { Date(timeIntervalSince1970: now) },
            busyTimeout: busyTimeout,
            newReplicaID: machine
        )
    }
}

let testID = UUID(uuid: (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16))

func makeNote(
    _ content: String,
    _ counters: [String: UInt64],
    title: String = "T",
    id: UUID = testID,
    attachments: [Attachment] = []
) throws -> Note {
    try Note(
        id: id,
        title: title,
        content: content,
        attachments: attachments,
        version: VersionVector(counters: counters),
        created: Date(timeIntervalSince1970: 0),
        modified: Date(timeIntervalSince1970: 0),
        hash: testHash
    )
}

func makeTombstone(_ counters: [String: UInt64]) throws -> Note {
    try makeNote("", [:]).tombstone(
        version: VersionVector(counters: counters),
        at: Date(timeIntervalSince1970: 0),
        hash: testHash
    )
}

/// The code of the error that a call throws.
func errorCode<Result>(
    sourceLocation: SourceLocation = #_sourceLocation,
    of body: () async throws -> Result
) async -> NotesStoreError.Code? {
    let error = await #expect(throws: NotesStoreError.self, sourceLocation: sourceLocation) { _ = try await body() }
    return error?.code
}
