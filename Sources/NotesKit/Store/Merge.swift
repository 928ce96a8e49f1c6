/// What becomes of a note that arrives from another machine.
public enum MergeOutcome: Sendable, Hashable {
    /// Why an arriving note changes nothing.
    public enum Ignored: Sendable, Hashable {
        /// The same version is here.
        case same
        /// The version that is here contains it.
        case older
        /// It was removed here after that version.
        case deletedHere
    }

    /// The note was not here, and is now.
    case added(Note)
    /// The arriving version contains the one that was here and takes its place; it may be a removal.
    case fastForwarded(Note)
    /// Nothing changes.
    case ignored(Ignored)
    /// Both have the same text, or only one of them has a text: the note now has the edits of both.
    case merged(Note)
    /// It was removed here, and comes back because of an edit that the removal had not seen.
    case broughtBack(Note)
    /// Each text has edits that the other lacks. Both are kept: one in the note, the other in a note beside it.
    case conflict(winner: Note, copy: Note)

    /// The note as it is to be stored; nil where nothing changes.
    public var note: Note? {
        switch self {
        case .added(let note), .fastForwarded(let note), .merged(let note), .broughtBack(let note): note
        case .conflict(let winner, _): winner
        case .ignored: nil
        }
    }
}

/// Merges a note that arrives into the one that is here.
///
/// A pure function of the two, so that two machines that give each other their versions come to the same notes, in
/// whichever order: no clock and no machine's turn decides, and no text is given up. In a conflict the text with the
/// larger hash (compared as bytes) stays in the note; the version is the least one that contains both and is *not*
/// counted up, else the machines that merge would be in conflict again.
///
/// - Parameters:
///   - local: The note that is here, which may be a tombstone; nil where there is none.
///   - incoming: The note that arrives, with the same id.
///   - hash: The hash function.
/// - Returns: What is to be stored.
public func merge(local: Note?, incoming: Note, hash: NoteHash) -> MergeOutcome {
    guard let local else { return .added(incoming) }
    precondition(local.id == incoming.id, "only versions of one note can be merged")
    switch incoming.version.compared(to: local.version) {
    case .dominates:
        return local.isDeleted && !incoming.isDeleted ? .broughtBack(incoming) : .fastForwarded(incoming)
    case .dominated:
        return .ignored(local.isDeleted ? .deletedHere : .older)
    case .equal where incoming.contentHash == local.contentHash && incoming.isDeleted == local.isDeleted:
        return .ignored(.same)
    case .equal, .concurrent:
        return mergeConcurrent(local: local, incoming: incoming, hash: hash)
    }
}

private func mergeConcurrent(local: Note, incoming: Note, hash: NoteHash) -> MergeOutcome {
    let version = local.version.merged(with: incoming.version)
    switch (local.isDeleted, incoming.isDeleted) {
    case (true, false):
        return .broughtBack(incoming.with(version: version))
    case (false, true), (true, true):
        return .merged(local.with(version: version))
    case (false, false) where local.contentHash == incoming.contentHash:
        return .merged(local.with(version: version))
    case (false, false):
        let localWins = incoming.contentHash.lexicographicallyPrecedes(local.contentHash)
        let (winner, loser) = localWins ? (local, incoming) : (incoming, local)
        return .conflict(winner: winner.with(version: version), copy: loser.conflictCopy(hash: hash))
    }
}
