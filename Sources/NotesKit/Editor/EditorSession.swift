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
        // Before the editor starts, so that it is not met in the middle of its first write: what was recovered.
        let begun = await trySaving(Progress(draft: draft))
        async let following = follow(begun, watch)
        let end = await EditorProcess().run(editor, on: draft.path)
        watch.stop()
        var progress = await following
        try await save(&progress)
        try await store.removeDraft(of: draft.noteID)
        return Result(end: try end.get(), surprises: progress.surprises)
    }

    /// Saves the draft each time that it was written.
    private func follow(_ begun: Progress, _ watch: DraftWatch) async -> Progress {
        var progress = begun
        while await watch.next() { progress = await trySaving(progress) }
        return progress
    }

    /// Saves the draft if it can be.
    ///
    /// That it cannot is not an error yet: the editor may be in the middle of its next write, and it is its last text
    /// that counts.
    private func trySaving(_ progress: Progress) async -> Progress {
        var progress = progress
        try? await save(&progress)
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
