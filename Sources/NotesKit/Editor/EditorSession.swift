/// A user's edit of a note: an editor runs on the draft, and each write of it is saved at once.
public struct EditorSession: Sendable {
    /// What came of an edit.
    public struct Result: Sendable {
        /// How the editor ended.
        public let end: Editor.End
        /// The saves that the user has to be told about, since somebody else had changed or removed the note.
        public let surprises: [SaveOutcome]
    }

    private struct Progress: Sendable {
        var draft: EditorDraft
        var surprises: [SaveOutcome] = []
    }

    private let store: NotesStore
    private let editor: Editor
    private let whenSaved: @Sendable (Note) async -> Void

    /// Prepares an edit.
    ///
    /// - Parameters:
    ///   - store: Where the note is.
    ///   - editor: The user's editor.
    ///   - whenSaved: Called after each save that changed the note.
    public init(
        store: NotesStore,
        editor: Editor,
        whenSaved: @escaping @Sendable (Note) async -> Void = { _ in }
    ) {
        self.store = store
        self.editor = editor
        self.whenSaved = whenSaved
    }

    /// Runs the editor until it ends, and removes the draft when all of it is saved.
    ///
    /// - Parameter draft: The note's draft; a recovered one is saved as it is when the editor opens it.
    /// - Returns: How the editor ended; what it wrote is saved in any case.
    /// - Throws: `SystemError` where the editor cannot be started or the draft not be watched; ``NotesStoreError`` where
    ///   the text cannot be saved. The draft is kept then.
    public func run(on draft: EditorDraft) async throws -> Result {
        let watch = try DraftWatch(path: draft.path)
        async let following = follow(draft, watch)
        let end = await EditorProcess().run(editor, on: draft.path)
        watch.stop()
        var progress = await following
        try await save(&progress)
        try await store.removeDraft(of: draft.noteID)
        return Result(end: try end.get(), surprises: progress.surprises)
    }

    /// Saves the draft each time that it was written.
    ///
    /// What cannot be saved is not an error yet: the editor may have been interrupted in the middle, and it is its last
    /// text that counts.
    private func follow(_ draft: EditorDraft, _ watch: DraftWatch) async -> Progress {
        var progress = Progress(draft: draft)
        repeat { try? await save(&progress) } while await watch.next()
        return progress
    }

    private func save(_ progress: inout Progress) async throws {
        let (outcome, draft) = try await store.save(progress.draft, content: progress.draft.read())
        progress.draft = draft
        switch outcome {
        case .unchanged: return
        case .saved: break
        case .conflict, .broughtBack: progress.surprises.append(outcome)
        }
        await whenSaved(outcome.note)
    }
}
