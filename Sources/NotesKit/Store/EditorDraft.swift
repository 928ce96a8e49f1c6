public import FoundationEssentials
import Glibc
import Handoff

/// The working file of an editor: the note's text, in a file that the editor may write.
///
/// It outlives a crash of the editor or the machine, and the store remembers which version it began with, so that it
/// can be saved as if nothing had happened.
public struct EditorDraft: Sendable, Hashable {
    /// The note that is edited.
    public let noteID: UUID
    /// The version that the editor began with, or has come to by ``NotesStore/save(_:content:)``.
    public let opened: VersionVector
    /// The file (0600), in a directory of its own (0700).
    public let path: String
    /// The process that edits, or edited.
    public let processID: Int32
    /// When that process started, in the kernel's ticks, since a process id is used again.
    let processStart: UInt64

    /// Whether the process that edited is gone, so that the file is left for whoever recovers it.
    public var isLeftover: Bool { Self.startOfProcess(processID) != processStart }

    /// Reads the file as the editor left it.
    ///
    /// - Returns: The text, unchanged.
    /// - Throws: ``NotesStoreError`` `draftUnusable` where the file cannot be read; `invalidText` where it is not UTF-8;
    ///   `invalidContent` where it is over ``NoteText/maximumContentBytes``.
    public func read() throws -> String {
        let bytes = try StoreFiles.read(path, atMost: NoteText.maximumContentBytes + 1)
        guard bytes.count <= NoteText.maximumContentBytes else { throw NotesStoreError.contentTooLong }
        let text = try NoteText.decodeUTF8(bytes)
        try NoteText.validate(content: text)
        return text
    }

    /// When a process started, in clock ticks after boot (proc(5), field 22 of `stat`); nil where there is none.
    static func startOfProcess(_ processID: Int32) -> UInt64? {
        guard let bytes = try? StoreFiles.read("/proc/\(processID)/stat", atMost: 4_096) else { return nil }
        // The second field is the command's name in parentheses, which may itself have blanks and parentheses.
        guard let end = bytes.lastIndex(of: UInt8(ascii: ")")) else { return nil }
        let fields = bytes[(end + 1)...].split(separator: UInt8(ascii: " "))
        guard fields.count > 19 else { return nil }
        return UInt64(String(decoding: fields[19], as: UTF8.self))
    }
}

extension NotesStore {
    /// Makes the working file of an editor.
    ///
    /// - Parameters:
    ///   - note: The note as it is opened.
    ///   - processID: The process that edits.
    /// - Returns: The draft; its file has the note's text.
    /// - Throws: ``NotesStoreError`` `draftExists` where the note has one already (see ``draft(of:)``);
    ///   `draftUnusable` where the file cannot be made.
    public func makeDraft(of note: Note, processID: Int32) throws -> EditorDraft {
        let draft = try EditorDraft(
            noteID: note.id,
            opened: note.version,
            path: draftPath(of: note.id),
            processID: processID,
            processStart: startOfLivingProcess(processID)
        )
        // The row before the file: a crash between them leaves a row without a file, which says that nothing was edited.
        try database.transaction {
            if let existing = try self.draft(of: note.id) { throw NotesStoreError.draftExists(existing) }
            try record(draft)
        }
        do {
            try StoreFiles.makeDirectory(at: draftDirectory)
            try StoreFiles.makeFile(at: draft.path, bytes: Array(note.content.utf8))
        } catch {
            try forgetDraft(of: note.id)
            throw error
        }
        return draft
    }

    /// The working file of a note; nil where it has none.
    public func draft(of id: UUID) throws -> EditorDraft? {
        try drafts().first { $0.noteID == id }
    }

    /// The working files of all notes: of editors that are open, and of those that a crash ended.
    public func drafts() throws -> [EditorDraft] {
        try database.rows("SELECT note, opened, process, process_start FROM draft ORDER BY note") { row in
            let id = try row.uuid(0)
            return EditorDraft(
                noteID: id,
                opened: try VersionVector(stored: row.text(1)),
                path: draftPath(of: id),
                processID: Int32(truncatingIfNeeded: row.integer(2)),
                processStart: UInt64(bitPattern: row.integer(3))
            )
        }
        .filter { !$0.isLeftover || access($0.path, F_OK) == 0 }
    }

    /// Takes over a draft that a crash left, to go on editing it.
    ///
    /// - Returns: The draft under the new process; file and opened version are the old ones.
    /// - Throws: ``NotesStoreError`` `draftExists` where its editor is still open; `notFound` where there is none.
    public func recoverDraft(of id: UUID, processID: Int32) throws -> EditorDraft {
        let start = try startOfLivingProcess(processID)
        return try database.transaction {
            guard let old = try draft(of: id) else {
                throw NotesStoreError(.notFound, "there is nothing to recover for note \(id.uuidString.lowercased())")
            }
            guard old.isLeftover else { throw NotesStoreError.draftExists(old) }
            let draft = EditorDraft(
                noteID: id,
                opened: old.opened,
                path: old.path,
                processID: processID,
                processStart: start
            )
            try record(draft)
            return draft
        }
    }

    /// Removes a draft and its file, after its text was saved or given up.
    public func removeDraft(of id: UUID) throws {
        let path = draftPath(of: id)
        guard unlink(path) == 0 || errno == ENOENT else {
            let code = errno
            throw NotesStoreError(.draftUnusable, "\(SystemError("cannot remove \(path)", code: code)): remove it")
        }
        try forgetDraft(of: id)
    }

    /// Remembers that an editor has come to a version.
    func advance(_ draft: EditorDraft, to version: VersionVector) throws -> EditorDraft {
        guard version != draft.opened else { return draft }
        let advanced = EditorDraft(
            noteID: draft.noteID,
            opened: version,
            path: draft.path,
            processID: draft.processID,
            processStart: draft.processStart
        )
        try record(advanced)
        return advanced
    }

    private func record(_ draft: EditorDraft) throws {
        try database.run(
            "INSERT OR REPLACE INTO draft VALUES (?, ?, ?, ?)",
            .text(draft.noteID.uuidString),
            .text(draft.opened.stored()),
            .integer(Int64(draft.processID)),
            .integer(Int64(bitPattern: draft.processStart))
        )
    }

    private func forgetDraft(of id: UUID) throws {
        try database.run("DELETE FROM draft WHERE note = ?", .text(id.uuidString))
    }

    private func startOfLivingProcess(_ processID: Int32) throws -> UInt64 {
        guard let start = EditorDraft.startOfProcess(processID) else {
            throw NotesStoreError(.draftUnusable, "the editing process \(processID) is gone: start the editor again")
        }
        return start
    }

    private nonisolated var draftDirectory: String { directory + "/drafts" }

    private nonisolated func draftPath(of id: UUID) -> String {
        "\(draftDirectory)/\(id.uuidString.lowercased()).txt"
    }
}

extension NotesStoreError {
    fileprivate static func draftExists(_ draft: EditorDraft) -> NotesStoreError {
        draft.isLeftover
            ? NotesStoreError(.draftExists, "an editor ended without saving: recover or remove \(draft.path)")
            : NotesStoreError(.draftExists, "process \(draft.processID) is editing this note: end that editor first")
    }
}
