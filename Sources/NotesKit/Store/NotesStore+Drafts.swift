import FoundationEssentials

extension NotesStore {
    /// Saves what an editor wrote, and moves its draft on to the version that this made.
    ///
    /// Both at once, so that an editor that is killed after a save goes on from that save and not in conflict with it.
    ///
    /// - Parameters:
    ///   - draft: The editor's draft.
    ///   - content: The text as the editor wrote it; the title stays as the editor began with it.
    /// - Returns: What was done, and the draft to go on with.
    /// - Throws: ``NotesStoreError``; nothing is stored then.
    public func save(_ draft: EditorDraft, content: String) throws -> (outcome: SaveOutcome, draft: EditorDraft) {
        try database.transaction {
            let title = try titleBegun(by: draft)
            let outcome = try saveText(id: draft.noteID, opened: draft.opened, title: title, content: content)
            // Where the note has moved on and the editor has not, what is typed next is still typed over the old text.
            if case .unchanged(let note) = outcome, !isText(title, content, of: note) { return (outcome, draft) }
            return (outcome, try advance(draft, to: outcome.note.version))
        }
    }

    /// Whether a draft has a text that was not saved; one that cannot be read counts as such.
    public func hasUnsavedText(_ draft: EditorDraft) throws -> Bool {
        guard let text = try? draft.read() else { return true }
        let begun = try database.rows(
            """
            SELECT content FROM note WHERE id = ?1 AND version = ?2
            UNION ALL SELECT content FROM revision WHERE note = ?1 AND version = ?2
            """,
            .text(draft.noteID.uuidString),
            .text(draft.opened.stored())
        ) { $0.blob(0) }
        return !begun.contains { $0.elementsEqual(text.utf8) }
    }

    /// The title in the version that an editor began with; where that is not known any more, the latest there is.
    private func titleBegun(by draft: EditorDraft) throws -> String {
        let titles = try database.rows(
            """
            SELECT title FROM (
                SELECT title, version, 1 AS current, 0 AS number FROM note WHERE id = ?1 AND deleted = 0
                UNION ALL SELECT title, version, 0, number FROM revision WHERE note = ?1
            ) ORDER BY version = ?2 DESC, current DESC, number DESC LIMIT 1
            """,
            .text(draft.noteID.uuidString),
            .text(draft.opened.stored())
        ) { $0.text(0) }
        guard let title = titles.first else { throw NotesStoreError.noSuchNote(draft.noteID) }
        return title
    }

    /// Compared as bytes, since `==` takes different forms of a letter as equal.
    private func isText(_ title: String, _ content: String, of note: Note) -> Bool {
        note.title.utf8.elementsEqual(title.utf8) && note.content.utf8.elementsEqual(content.utf8)
    }
}
