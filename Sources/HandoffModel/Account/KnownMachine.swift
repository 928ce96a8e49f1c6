public import FoundationEssentials

/// What one machine of the account has learnt of another, over links or by inviting it: its own word, for people.
public struct KnownMachine: Hashable, Sendable {
    /// How many are remembered; of more, those that were not seen for the longest time are forgotten.
    public static let maximumCount = 256
    /// How many teams of one are remembered.
    static let maximumTeams = 16

    /// The machine's id.
    public let id: UUID
    /// What it calls itself; printed through an escape only.
    public var host: String
    /// The teams of its certificates.
    public var teams: Set<String>
    /// When it was seen last.
    public var lastSeen: Date
    /// When the certificate ends that it showed last; of several, the last.
    public var certificateEnd: Date
    /// The serial number of that certificate, at most ``Revocation/maximumSerial`` bytes.
    public var serial: [UInt8]
    /// Whether it says that it holds the account's key; nil where it was not asked.
    public var holdsKey: Bool?

    /// Puts one together.
    public init(
        id: UUID,
        host: String,
        teams: Set<String>,
        lastSeen: Date,
        certificateEnd: Date,
        serial: [UInt8],
        holdsKey: Bool?
    ) {
        self.id = id
        self.host = host
        self.teams = teams
        self.lastSeen = lastSeen
        self.certificateEnd = certificateEnd
        self.serial = serial
        self.holdsKey = holdsKey
    }

    init?(_ value: PropertyList) {
        guard let id = value["id"]?.stringValue.flatMap({ UUID(uuidString: $0) }),
            let host = value["host"]?.stringValue, host.utf8.count <= Hello.maximumNameSize,
            let teams = value["teams"]?.arrayValue, teams.count <= Self.maximumTeams,
            let lastSeen = value["seen"]?.dateValue, let end = value["end"]?.dateValue,
            let serial = value["serial"]?.dataValue, serial.count <= Revocation.maximumSerial
        else { return nil }
        self.init(
            id: id,
            host: host,
            teams: Set(teams.compactMap { $0.stringValue.flatMap { TeamID($0)?.description } }),
            lastSeen: lastSeen,
            certificateEnd: end,
            serial: Array(serial),
            holdsKey: value["signs"]?.booleanValue
        )
    }

    var propertyList: PropertyList {
        var fields: [String: PropertyList] = [
            "id": .string(id.uuidString), "host": .string(host),
            "teams": .array(teams.sorted().prefix(Self.maximumTeams).map { .string($0) }), "seen": .date(lastSeen),
            "end": .date(certificateEnd), "serial": .data(Data(serial)),
        ]
        fields["signs"] = holdsKey.map { .boolean($0) }
        return .dictionary(fields)
    }
}

/// The machines of an account that this one has met.
public struct KnownMachines: Hashable, Sendable {
    private var machines: [UUID: KnownMachine] = [:]

    /// Makes an empty list.
    public init() {}

    /// All of them, in the order of their ids.
    public var all: [KnownMachine] { machines.values.sorted { $0.id.uuidString < $1.id.uuidString } }

    /// What is known of a machine.
    public subscript(id: UUID) -> KnownMachine? { machines[id] }

    /// How long it may take until it shows that a machine was seen again.
    private static let resolution: TimeInterval = 60

    /// Notes a machine that was just seen.
    ///
    /// - Returns: False where that is not worth writing down: it was seen in the minute before, and is the same.
    @discardableResult
    public mutating func note(_ machine: KnownMachine) -> Bool {
        var machine = machine
        if let before = machines[machine.id] {
            machine.teams.formUnion(before.teams)
            machine.holdsKey = machine.holdsKey ?? before.holdsKey
            if before.certificateEnd > machine.certificateEnd {
                (machine.certificateEnd, machine.serial) = (before.certificateEnd, before.serial)
            }
            var same = machine
            same.lastSeen = before.lastSeen
            let pause = machine.lastSeen.timeIntervalSince(before.lastSeen)
            guard same != before || abs(pause) >= Self.resolution else { return false }
        }
        machines[machine.id] = machine
        guard machines.count > KnownMachine.maximumCount else { return true }
        if let oldest = machines.values.min(by: { ($0.lastSeen, $0.id.uuidString) < ($1.lastSeen, $1.id.uuidString) }) {
            machines[oldest.id] = nil
        }
        return true
    }

    /// The list and the account it is of, as a property list.
    ///
    /// - Throws: ``PropertyListError``, which these limits exclude.
    public func encoded(accountHash: [UInt8]) throws(PropertyListError) -> [UInt8] {
        try BinaryPropertyList.encode(
            .dictionary(["account": .data(Data(accountHash)), "machines": .array(all.map(\.propertyList))])
        )
    }

    /// Reads what ``encoded(accountHash:)`` has written.
    ///
    /// - Returns: Nil where it is damaged; an empty list where it is another account's.
    public init?(encoded: [UInt8], accountHash: [UInt8]) {
        guard let value = try? BinaryPropertyList.decode(encoded), let account = value["account"]?.dataValue,
            let list = value["machines"]?.arrayValue
        else { return nil }
        guard Array(account) == accountHash else { return }
        for machine in list.compactMap({ KnownMachine($0) }) { machines[machine.id] = machine }
    }
}
