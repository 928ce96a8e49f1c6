import CommandLineKit
import FoundationEssentials
import Handoff

/// The machines of the account as `handoff account peers` shows them.
struct MemberListing: Encodable {
    private let machines: [Row]

    init(_ members: [AccountMember]) {
        machines = members.map(Row.init)
    }

    /// The table for people.
    ///
    /// - Parameter width: The terminal's columns; nil where nothing may be cut.
    func table(width: Int?) -> String {
        var table = Table(columns: [
            Table.Column("HOST", isFlexible: true), Table.Column("MACHINE"), Table.Column("TEAMS", isFlexible: true),
            Table.Column("SEEN"), Table.Column("VALID UNTIL"), Table.Column("STATE"),
        ])
        for row in machines { table.append(row.cells) }
        return table.text(width: width)
    }
}

extension MemberListing {
    /// One machine; what is not known is nil, and `null` in JSON.
    private struct Row: Encodable {
        private enum CodingKeys: String, CodingKey {
            case machine, host, teams, revoked
            case lastSeen = "last_seen"
            case notAfter = "not_after"
            case isThisMachine = "this_machine"
            case holdsKey = "holds_key"
        }

        private let member: AccountMember

        init(_ member: AccountMember) {
            self.member = member
        }

        func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encode(member.machineID, forKey: .machine)
            try container.encode(member.host, forKey: .host)
            try container.encode(member.teams, forKey: .teams)
            try container.encode(member.lastSeen, forKey: .lastSeen)
            try container.encode(member.certificateEnd, forKey: .notAfter)
            try container.encode(member.revoked, forKey: .revoked)
            try container.encode(member.isThisMachine, forKey: .isThisMachine)
            try container.encode(member.holdsKey, forKey: .holdsKey)
        }

        /// One cell for each column of the table.
        var cells: [String] {
            func text(_ date: Date?) -> String { date?.ISO8601Format() ?? "-" }
            return [
                member.host ?? "-", member.machineID, member.teams.isEmpty ? "-" : member.teams.joined(separator: ", "),
                member.isThisMachine ? "now" : text(member.lastSeen), text(member.certificateEnd), state,
            ]
        }

        private var state: String {
            var words: [String] = []
            if member.isThisMachine { words.append("this machine") }
            if member.holdsKey == true { words.append("holds the key") }
            if let revoked = member.revoked { words.append("revoked \(revoked.ISO8601Format())") }
            return words.isEmpty ? "-" : words.joined(separator: ", ")
        }
    }
}
