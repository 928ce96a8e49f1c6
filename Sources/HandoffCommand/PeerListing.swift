import CommandLineKit
import Handoff

/// The peers as `handoff discover` shows them: the nearest first, those that are not paired last.
struct PeerListing: Encodable {
    let peers: [Row]
    /// What the radios say of themselves, where the ranking is explained.
    let radios: Radios?

    /// Puts the peers in order.
    ///
    /// - Parameters:
    ///   - statuses: The peers that are shown.
    ///   - choice: Keeps the nearest from changing by noise where the peers are watched.
    ///   - now: The time.
    ///   - radios: What the radios say of themselves where the rows tell what their order rests on, else nil.
    init(_ statuses: [PeerStatus], _ choice: inout NearestChoice, at now: Duration, radios: Radios?) {
        self.radios = radios
        let order = choice.settle(Ranking.order(statuses.compactMap(\.nearness?.sample)), at: now)
        let ranks = order.enumerated().reduce(into: [:]) { $0[$1.element.sample.peer] = $1.offset }
        peers = statuses.map { status in
            let rank = status.id.flatMap { ranks[$0] }
            let nearness = rank.map { Nearness(order[$0], at: now) }
            return Row(status, rank: rank.map { $0 + 1 }, nearness: radios == nil ? nil : nearness)
        }
        .sorted { $0.place < $1.place }
    }

    /// The table for people, and the ranking below it where it is explained.
    ///
    /// - Parameter width: The terminal's columns; nil where nothing may be cut.
    func lines(width: Int?) -> [StyledLine] {
        var table = Table(columns: [
            Table.Column("NAME"), Table.Column("APP", isFlexible: true), Table.Column("HOST"),
            Table.Column("ADDRESSES", isFlexible: true), Table.Column("PORT", isNumeric: true),
            Table.Column("ACCOUNT"), Table.Column("TEAM"), Table.Column("PAIRED", isFlexible: true),
            Table.Column("OFFER", isFlexible: true), Table.Column("RTT", isNumeric: true),
        ])
        for row in peers { table.append(row.cells, style: row.style) }
        let explained = peers.compactMap(\.explanation) + (radios?.lines ?? [])
        let rest = explained.isEmpty ? [] : [StyledLine("")] + explained.map { StyledLine($0) }
        return table.lines(width: width) + rest
    }
}

extension PeerListing {
    /// One peer; what is not known is nil, and `null` in JSON.
    struct Row: Encodable {
        private enum CodingKeys: String, CodingKey {
            case id, name, app, host, addresses, port, account, team, pairing, reason, offer, rank, nearness
            case namedPlace = "place"
            case roundTripMilliseconds = "rtt_ms"
        }

        private struct OfferRow: Encodable {
            let type: String
            let title: String
        }

        /// What the rows are ordered by.
        let place: (rank: Int, host: String, service: String)
        /// What tells the row from the others, for as long as the peer is there.
        let key: String
        /// How the row is set off: by whether the peer is paired and answers.
        let style: LineStyle

        private let rank: Int?
        private let nearness: Nearness?
        private let id: String?
        private let name: String?
        private let app: String?
        /// What it calls itself, once it is paired.
        private let host: String?
        /// Its name in mDNS, which anybody could use, for people.
        private let announcedHost: String?
        /// The place that was named to look for it, where it was not found.
        private let namedPlace: String?
        private let addresses: [String]
        private let port: UInt16?
        private let account: PeerStatus.Match
        private let team: PeerStatus.Match
        private let pairing: PeerStatus.Pairing
        private let reason: PairingFailure?
        private let offer: OfferRow?
        private let latency: Duration?

        init(_ status: PeerStatus, rank: Int?, nearness: Nearness?) {
            self.rank = rank
            self.nearness = nearness
            style =
                switch status.pairing {
                case .paired: status.nearness?.sample.isSuspect == true ? .pending : .good
                case .pending: .pending
                case .refused, .unreachable: status.account == .other ? .faint : .bad
                }
            key = status.service ?? status.id?.description ?? status.place?.description ?? ""
            id = status.id?.description
            name = status.hello?.name
            app = status.hello?.app
            host = status.hello?.host
            announcedHost = status.announcedHost
            namedPlace = status.place?.description
            addresses = status.addresses.map(\.host)
            port = status.addresses.first?.port
            account = status.account
            team = status.team
            pairing = status.pairing
            reason = status.reason
            offer = status.offers.first.map { OfferRow(type: $0.type, title: $0.title) }
            latency = status.latency
            place = (rank ?? .max, host ?? announcedHost ?? namedPlace ?? "", status.service ?? "")
        }

        func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encode(id, forKey: .id)
            try container.encode(name, forKey: .name)
            try container.encode(app, forKey: .app)
            try container.encode(host, forKey: .host)
            try container.encodeIfPresent(namedPlace, forKey: .namedPlace)
            try container.encode(addresses, forKey: .addresses)
            try container.encode(port, forKey: .port)
            try container.encode(account.rawValue, forKey: .account)
            try container.encode(team.rawValue, forKey: .team)
            try container.encode(pairing.rawValue, forKey: .pairing)
            try container.encode(reason?.rawValue, forKey: .reason)
            try container.encode(offer, forKey: .offer)
            try container.encode(roundTripMilliseconds, forKey: .roundTripMilliseconds)
            try container.encode(rank, forKey: .rank)
            try container.encodeIfPresent(nearness, forKey: .nearness)
        }

        /// What makes a change of the peer an event; a round trip is another one each time.
        var fingerprint: [String] {
            cells.dropLast() + ["\(rank ?? 0)", "\(style)", id ?? "", "\(reason?.rawValue ?? "")"]
        }

        /// Its place in the ranking and what it rests on, for people; nil where it is not asked for.
        var explanation: String? {
            guard let rank, let nearness else { return nil }
            return printable("\(rank). \(name ?? "-") on \(host ?? "-"): ") + nearness.text
        }

        /// One cell for each column of the table.
        var cells: [String] {
            let time = roundTripMilliseconds.map { milliseconds in
                // Two decimals: what is below is noise.
                let hundredths = Int((milliseconds * 100).rounded())
                let fraction = hundredths % 100
                return "\(hundredths / 100).\(fraction < 10 ? "0" : "")\(fraction) ms"
            }
            return [
                name ?? "-", app ?? "-", host ?? announcedHost ?? "-",
                addresses.isEmpty ? namedPlace ?? "-" : addresses.joined(separator: ", "),
                port.map { "\($0)" } ?? "-", account.rawValue, team.rawValue, pairedCell, offer?.title ?? "-",
                time ?? "-",
            ]
        }

        private var pairedCell: String {
            switch pairing {
            case .paired: "yes"
            case .pending: "not yet"
            case .refused, .unreachable: "no: \(reason?.description ?? pairing.rawValue)"
            }
        }

        private var roundTripMilliseconds: Double? {
            latency.map { Double(($0 / .microseconds(1)).rounded()) / 1000 }
        }
    }
}
