import CommandLineKit
import NotesKit

/// What came of a continuation, in one sentence for people.
func sentence(_ report: ContinueReport) -> String {
    let title = "“\(printable(report.title))”"
    let host = printable(report.from.host)
    switch report.outcome {
    case .added: return "continued \(title) from \(host)"
    case .updated: return "continued \(title) from \(host); the text here was older"
    case .same: return "continued \(title) from \(host); the text here is the same"
    case .older: return "the text of \(title) on \(host) is older than the one here, which stays"
    case .removed: return "\(title) was removed here after \(host) had this text; it stays removed"
    case .conflict:
        return """
            \(title) was edited here and on \(host): both texts are kept, one as \(report.note), \
            the other as \(report.copy ?? "-") (conflict copy)
            """
    }
}

/// Tells of the attachments that did not come.
///
/// - Returns: Whether all are here.
func tell(_ attachments: [AttachmentReport]) -> Bool {
    var areHere = true
    for attachment in attachments {
        guard let problem = attachment.problem else { continue }
        areHere = false
        StandardError.write("notes: “\(printable(attachment.name))” is not here: \(printable(problem))\n")
    }
    if !areHere { StandardError.write("notes: `notes fetch NOTE` goes on with what is missing\n") }
    return areHere
}

/// Tells of the nearer peers that failed.
func tell(_ failures: [ContinueReport.Failure]) {
    for failure in failures {
        StandardError.write("notes: \(printable(failure.host)) failed: \(printable(failure.message))\n")
    }
}
