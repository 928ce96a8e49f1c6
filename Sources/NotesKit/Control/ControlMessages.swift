public import FoundationEssentials

/// What a command asks of the running peer: one JSON object a line on its socket.
public enum ControlRequest: Codable, Sendable, Hashable {
    /// Who and where the peer is.
    case status
    /// What is offered, here and by the paired peers.
    case activities
    /// Make a note the current activity until it is closed.
    case open(note: UUID)
    /// Stop offering a note that was opened; without one, the newest.
    case close(note: UUID?)
    /// Make a note the current activity for as long as this connection stands: an editor's lease.
    case hold(note: UUID)
    /// The store has a newer text of a note, or removed it.
    case changed(note: UUID)
    /// Look for peers at places, and link to all that are found there.
    case reach(places: [String])
    /// Continue the nearest peer's activity, or that of the peer which is named.
    case continueActivity(from: String?, ContinueOptions)
    /// Send a note to the peer that is named.
    case send(note: UUID, to: String)
    /// Fetch what is missing of a note's attachments.
    case fetchAttachments(of: UUID)
}

/// How to continue.
public struct ContinueOptions: Codable, Sendable, Hashable {
    /// Of what is no note, take the web page.
    public var includesWebpages = false
    /// Go on taking what is written at the origin, until somebody works on the note here.
    public var follows = false

    /// Makes the options of a plain continuation.
    public init() {}
}

/// What the peer answers: one JSON object a line.
public enum ControlReply: Codable, Sendable, Hashable {
    /// It is done.
    case done
    /// The answer to `status`.
    case status(StatusReport)
    /// The answer to `activities`.
    case activities([ActivityReport])
    /// The answer to `reach`: the places where no peer was found.
    case reached([ContinueReport.Failure])
    /// The answer to `continueActivity`.
    case continued(ContinueReport)
    /// The answer to `continueActivity` where it is no note that goes on.
    case webpage(WebpageReport)
    /// The answer to `send`.
    case sent(SendReport)
    /// The answer to `fetchAttachments`.
    case fetched(FetchReport)
    /// It is being done; more is to come.
    case progress(ProgressReport)
    /// It could not be done; the message says why and what to do.
    case failed(message: String)
}

/// The running peer, for people and programs.
public struct StatusReport: Codable, Sendable, Hashable {
    /// The process.
    public let pid: Int32
    /// The peer's id, as others see it.
    public let id: String
    /// The machine's name.
    public let host: String
    /// The TCP port it listens on.
    public let port: Int?
    /// The instance name it announces; nil where nothing is announced now.
    public let service: String?
    /// The paired peers.
    public let peers: [PeerReport]
    /// What it offers now.
    public let current: ActivityReport?
    /// Why peers cannot be found now; nil while they can.
    public let problem: String?
}

/// A paired peer.
public struct PeerReport: Codable, Sendable, Hashable {
    /// Its id.
    public let id: String
    /// Its machine's name.
    public let host: String
    /// Its app's name.
    public let name: String
    /// The round-trip time in milliseconds; nil where none was measured.
    public let rttMilliseconds: Double?

    private enum CodingKeys: String, CodingKey {
        case id, host, name
        case rttMilliseconds = "rtt_ms"
    }
}

/// An activity that is offered.
public struct ActivityReport: Codable, Sendable, Hashable {
    /// The activity's id.
    public let id: String
    /// Its type.
    public let type: String
    /// Its title.
    public let title: String
    /// Who offers it; nil for this machine.
    public let peer: PeerReport?
    /// Why it cannot be continued here; nil where it can.
    public let reason: String?
}

/// What came of a continuation.
public struct ContinueReport: Codable, Sendable, Hashable {
    /// What happened to the note here.
    public enum Outcome: String, Codable, Sendable {
        /// It was not here before.
        case added
        /// The peer's text was newer.
        case updated
        /// It is the same text.
        case same
        /// The text here is newer and stays.
        case older
        /// It was removed here, after the peer's text was written; it stays removed.
        case removed
        /// Both were edited: both texts are kept.
        case conflict
    }

    /// A peer whose payload did not arrive, or a place where no peer was found.
    public struct Failure: Codable, Sendable, Hashable {
        /// Its machine's name, or the place as it was named.
        public let host: String
        /// Why.
        public let message: String

        /// Records a failure.
        public init(host: String, message: String) {
            self.host = host
            self.message = message
        }
    }

    /// The note's id.
    public let note: String
    /// The note's title here.
    public let title: String
    /// What happened to it here.
    public let outcome: Outcome
    /// The note that keeps the other text, after a conflict.
    public let copy: String?
    /// True where an editor has the note open here.
    public let isOpenInEditor: Bool
    /// Its attachments.
    public let attachments: [AttachmentReport]
    /// Where it came from.
    public let from: PeerReport
    /// Why that peer was chosen; nil where it was named.
    public let reason: String?
    /// Nearer peers that failed.
    public let failures: [Failure]

    private enum CodingKeys: String, CodingKey {
        case note, title, outcome, copy, attachments, from, reason, failures
        case isOpenInEditor = "open_in_editor"
    }
}

/// An attachment of a note that was taken over.
public struct AttachmentReport: Codable, Sendable, Hashable {
    /// Its name.
    public let name: String
    /// Its length in bytes.
    public let size: Int64
    /// The digest of its content, in hexadecimal.
    public let sha256: String
    /// Why its content is not here; nil where it is.
    public let problem: String?
}

/// What came of fetching a note's attachments.
public struct FetchReport: Codable, Sendable, Hashable {
    /// The note's id.
    public let note: String
    /// Its title.
    public let title: String
    /// Its attachments.
    public let attachments: [AttachmentReport]
}

/// How far a long work is.
public struct ProgressReport: Codable, Sendable, Hashable {
    /// What is worked on; it may come from a peer.
    public let name: String
    /// What is done with it, a word.
    public let stage: String
    /// How many bytes are done.
    public let completed: Int64
    /// How many there are.
    public let total: Int64
}

/// A web page that stands in for an activity which is no note.
public struct WebpageReport: Codable, Sendable, Hashable {
    /// Its address, `http` or `https`.
    public let address: String
    /// The activity's title.
    public let title: String
    /// Where it came from.
    public let from: PeerReport
    /// Nearer peers that failed.
    public let failures: [ContinueReport.Failure]

    private enum CodingKeys: String, CodingKey {
        case title, from, failures
        case address = "url"
    }
}

/// A note that was sent and is at the other machine.
public struct SendReport: Codable, Sendable, Hashable {
    /// The note's id.
    public let note: String
    /// Its title.
    public let title: String
    /// Who has it.
    public let to: PeerReport
}
