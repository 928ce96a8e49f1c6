import FoundationEssentials
import HandoffModel
import HandoffSupport
public import HandoffTransport

/// The last known addresses of paired machines, in a file that the apps of one team share.
///
/// It may be lost or damaged without harm. It is replaced as a whole, so that no reader sees half of it; of two apps that
/// replace it at the same moment one may have to learn its news again.
public actor KnownPeersFile {
    private struct Document: Codable {
        /// Which account's machines they are: those of another are of no use.
        let account: String
        let peers: [KnownPeers.Place]
    }

    /// A file of ours is far smaller.
    private static let maximumSize: Int64 = 1 << 20

    private let directory: String
    private let name: String
    private let account: String
    private let executor = QueueExecutor(label: "handoff.known-peers")

    /// The queue that all calls run on.
    public nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    /// Names the file, which need not be there yet.
    ///
    /// - Parameters:
    ///   - directory: The directory for what is remembered between runs; made (0700) where it is missing.
    ///   - identity: Whose account and team the peers are of.
    public init(directory: String, identity: Identity) {
        self.directory = directory
        name = "peers-\(identity.teamID).json"
        account = BaseEncoding.hexadecimal(identity.accountHash)
    }

    /// What is known; nothing where there is no file, or one that cannot be read.
    ///
    /// - Parameter date: The time.
    func read(at date: Date) -> KnownPeers {
        let path = "\(directory)/\(name)"
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .iso8601
        guard let status = try? FileStatus.of(path), status.isRegular, status.isOwn, status.size <= Self.maximumSize,
            let data = try? Data(contentsOf: URL(filePath: path)),
            let document = try? decoder.decode(Document.self, from: data), document.account == account
        else { return KnownPeers() }
        return KnownPeers(document.peers, at: date)
    }

    /// Changes what is known, with what other apps have learned since.
    ///
    /// - Parameters:
    ///   - date: The time.
    ///   - change: Changes it; where nothing is changed, nothing is written.
    /// - Throws: `SystemError`.
    func update(at date: Date, _ change: @Sendable (inout KnownPeers) -> Void) throws {
        let earlier = read(at: date)
        var known = earlier
        change(&known)
        guard known != earlier else { return }
        let encoder = JSONEncoder()
        encoder.dateEncodingStrategy = .iso8601
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
        let data = try encoder.encode(Document(account: account, peers: known.places))
        try Directory.makePrivate(directory)
        let draft = PrivateFile(name: ".\(name).\(UUID().uuidString)", isSecret: true, bytes: Array(data))
        do {
            try Directory.write(draft, in: directory)
            try Directory.rename("\(directory)/\(draft.name)", to: "\(directory)/\(name)")
        } catch {
            try? Directory.remove("\(directory)/\(draft.name)")
            throw error
        }
        try Directory.synchronize(directory)
    }
}
