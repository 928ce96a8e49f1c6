import FoundationEssentials
import HandoffModel
import HandoffSupport
import HandoffTransport

/// What a running peer tells programs on its machine: what a visitor would find out by looking around.
///
/// What came from a peer is kept in that peer's words, and so is read by the rules for them.
struct StatusDocument: Codable {
    fileprivate struct Address: Codable {
        let host: String
        let port: UInt16
    }

    fileprivate struct Row: Codable {
        let machine: UUID?
        let instance: [UInt8]?
        /// The message that it greets with.
        let hello: Data?
        let service: String?
        let announcedHost: String?
        let addresses: [Address]
        let account: PeerStatus.Match
        let team: PeerStatus.Match
        let pairing: PeerStatus.Pairing
        let reason: String?
        /// The message that it offers with.
        let offers: Data
        let latency: Duration?
    }

    private let account: String
    private let team: String
    /// Nil where looking around may tell more.
    private let rows: [Row]?

    /// Writes a document.
    ///
    /// - Parameters:
    ///   - statuses: What is known of everybody, but of places; nil where looking around may tell more.
    ///   - identity: Whose account and team it was seen with.
    /// - Throws: `HandoffError` where something in it cannot be encoded.
    init(_ statuses: [PeerStatus]?, of identity: Identity) throws(HandoffError) {
        account = BaseEncoding.hexadecimal(identity.accountHash)
        team = identity.teamID
        rows = try statuses?.map { status throws(HandoffError) in try Row(status) }
    }

    /// What is known of everybody.
    ///
    /// - Returns: Nil where looking around may tell more, where it was seen with another account or team, or where
    ///   something is not as a peer of this version writes it.
    func statuses(for identity: Identity) -> [PeerStatus]? {
        guard account == BaseEncoding.hexadecimal(identity.accountHash), team == identity.teamID, let rows else {
            return nil
        }
        let samples = rows.compactMap { row in
            row.id.map { ProximitySample(peer: $0, latency: row.latency.map { LatencyReading($0) }) }
        }
        let nearness = Ranking.order(samples).reduce(into: [:]) { $0[$1.sample.peer] = $1 }
        let statuses = rows.compactMap { $0.status(nearness) }
        return statuses.count == rows.count ? statuses : nil
    }
}

extension StatusDocument.Row {
    fileprivate init(_ status: PeerStatus) throws(HandoffError) {
        machine = status.id?.machine
        instance = status.id?.instance.bytes
        hello = try status.hello.map { hello throws(HandoffError) in Data(try Message.hello(hello).encoded()) }
        service = status.service
        announcedHost = status.announcedHost
        addresses = status.addresses.map { StatusDocument.Address(host: $0.host, port: $0.port) }
        account = status.account
        team = status.team
        pairing = status.pairing
        reason = status.reason?.rawValue
        offers = Data(try Message.offers(status.offers).encoded())
        latency = status.latency
    }

    fileprivate var id: PeerID? {
        guard let machine, let instance = instance.flatMap({ InstanceID($0) }) else { return nil }
        return PeerID(machine: machine, instance: instance)
    }

    /// - Returns: Nil where a message cannot be read.
    fileprivate func status(_ nearness: [PeerID: RankedPeer]) -> PeerStatus? {
        guard case .known(.offers(let offers)) = ReceivedMessage(body: Array(offers)) else { return nil }
        var greeting: Hello?
        if let hello {
            guard case .known(.hello(let hello)) = ReceivedMessage(body: Array(hello)) else { return nil }
            greeting = hello
        }
        return PeerStatus(
            id: id,
            hello: greeting,
            service: service,
            place: nil,
            announcedHost: announcedHost,
            addresses: addresses.compactMap { SocketAddress(numeric: $0.host, port: $0.port) },
            account: account,
            team: team,
            pairing: pairing,
            reason: reason.map { PairingFailure(rawValue: $0) },
            offers: offers,
            nearness: id.flatMap { nearness[$0] }
        )
    }
}
