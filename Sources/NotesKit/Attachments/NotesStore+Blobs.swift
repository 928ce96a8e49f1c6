import FoundationEssentials
import Glibc
public import Handoff
public import HandoffSupport

/// Whether an attachment's content is on this machine.
public enum BlobState: Sendable, Hashable {
    /// The whole of it.
    case here
    /// Only so many bytes, from a transfer that broke off; the next one goes on from there.
    case partial(Int64)
    /// Nothing of it.
    case missing
}

/// Contents are files named by their digest, below the data directory: `blobs/<2 digits>/<64 digits>` (0600 in 0700).
extension NotesStore {
    /// Where an attachment's content is, or will be.
    public nonisolated func blobPath(of digest: ContentDigest) -> String {
        let name = digest.description
        return "\(blobDirectory)/\(name.prefix(2))/\(name)"
    }

    /// Whether an attachment's content is on this machine.
    ///
    /// It is not read: it was checked before it got its name.
    public nonisolated func blobState(of attachment: Attachment) -> BlobState {
        let path = blobPath(of: attachment.digest)
        if let status = try? FileStatus.of(path), status.isRegular, status.size == attachment.size { return .here }
        let partial = IncomingFile.partialPath(for: attachment.digest, target: path)
        guard let status = try? FileStatus.of(partial), status.isRegular, status.size > 0 else { return .missing }
        return .partial(status.size)
    }

    /// Begins to receive an attachment's content, or goes on with it.
    ///
    /// - Returns: The file, which makes the attachment's state ``BlobState/here`` when it is committed.
    /// - Throws: ``NotesStoreError`` `directoryUnusable`; `SystemError`; `TransferError`, `busy` where it is being received already.
    public nonisolated func receiveBlob(of attachment: Attachment) async throws -> IncomingFile {
        let path = blobPath(of: attachment.digest)
        let parent = Directory.containing(path)
        if try FileStatus.of(parent) == nil {
            try StoreFiles.makeDirectory(at: parent)
            // What is committed there is to be found after a power cut.
            for directory in [blobDirectory, directory] { try Directory.synchronize(directory) }
        }
        return try await IncomingFile.open(
            path,
            size: attachment.size,
            digest: attachment.digest,
            // The same digest is the same content, and what is there is too short.
            replacesTarget: true
        )
    }

    /// How long what a broken transfer has left is kept, where nothing needs the content: the user may try again.
    static let partialLifetime = Duration.seconds(24 * 3_600)

    /// Removes the contents that no note, no replaced text and no grant needs any more, and after a day what broken
    /// transfers of such contents have left.
    ///
    /// Other processes may use the store meanwhile: an attachment is saved under the lock that is held here, and only
    /// where its content is there.
    ///
    /// - Returns: How many contents were removed.
    /// - Throws: ``NotesStoreError``.
    @discardableResult
    public func removeUnneededBlobs() throws -> Int {
        try database.transaction {
            let needed = try neededDigests()
            var removed = 0
            for path in Self.files(below: blobDirectory) {
                let name = path.split(separator: "/").last ?? ""
                if let digest = ContentDigest(String(name)) {
                    guard !needed.contains(digest) else { continue }
                    try? Directory.remove(path)
                    removed += 1
                } else if let digest = IncomingFile.digest(ofPartial: path), !needed.contains(digest) {
                    removeOldPartial(path)
                }
            }
            return removed
        }
    }

    private func removeOldPartial(_ path: String) {
        let limit = Duration.seconds(now().timeIntervalSince1970) - Self.partialLifetime
        guard let status = try? FileStatus.of(path), status.modified < limit,
            let partial = try? DiskFile(path, for: .readingOwn), (try? partial.lock()) == true
        else { return }
        try? Directory.remove(path)
    }

    private func neededDigests() throws -> Set<ContentDigest> {
        try Set(
            database.rows(
                """
                SELECT value ->> 'sha256' FROM note, json_each(note.attachments)
                UNION SELECT value ->> 'sha256' FROM revision, json_each(revision.attachments)
                UNION SELECT digest FROM blob_grant WHERE until > ?
                """,
                .real(now().timeIntervalSince1970)
            ) { ContentDigest($0.text(0)) }.compactMap(\.self)
        )
    }

    private nonisolated var blobDirectory: String { directory + "/blobs" }

    /// The files in the directories of a directory.
    private static func files(below path: String) -> [String] {
        names(in: path).flatMap { directory in names(in: "\(path)/\(directory)").map { "\(path)/\(directory)/\($0)" } }
    }

    private static func names(in path: String) -> [String] {
        guard let directory = opendir(path) else { return [] }
        defer { closedir(directory) }
        var names: [String] = []
        while let entry = readdir(directory) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            if name != ".", name != ".." { names.append(name) }
        }
        return names
    }
}
