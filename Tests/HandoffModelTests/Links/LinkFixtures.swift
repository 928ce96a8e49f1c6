import FoundationEssentials
import HandoffModel

/// Two machines, A below B in the order of peers, and their greetings.
enum LinkFixture {
    static let machineA = UUID(uuid: (0, 0, 0, 0, 0, 0, 0x40, 0, 0x80, 0, 0, 0, 0, 0, 0, 0xa))
    static let machineB = UUID(uuid: (0, 0, 0, 0, 0, 0, 0x40, 0, 0x80, 0, 0, 0, 0, 0, 0, 0xb))
    static let a = PeerID(machine: machineA, instance: instance(1))
    static let b = PeerID(machine: machineB, instance: instance(2))
    static let team = "ABCDE12345"

    static func instance(_ byte: UInt8) -> InstanceID {
        guard let id = InstanceID([UInt8](repeating: byte, count: 16)) else { preconditionFailure("16 bytes") }
        return id
    }

    static func versions(_ text: String) -> ProtocolVersions {
        guard let versions = ProtocolVersions(text) else { preconditionFailure("not a version range: \(text)") }
        return versions
    }

    static func hello(_ id: PeerID, versions: String = "1", isVisitor: Bool = false) -> Hello {
        Hello(
            versions: Self.versions(versions),
            instance: id.instance,
            app: "org.example.notes",
            name: "notes",
            host: "host",
            isVisitor: isVisitor,
            types: ["org.example.notes.note"],
            service: nil
        )
    }

    static func machine(
        _ role: LinkRole,
        of us: PeerID = a,
        with other: UUID? = machineB,
        teamIDs: [String] = [team],
        versions: String = "1",
        expecting expected: UUID? = nil
    ) -> LinkStateMachine {
        LinkStateMachine(
            role: role,
            policy: LinkPolicy(
                ourselves: us,
                teamID: team,
                hello: hello(us, versions: versions),
                expectedMachine: expected
            ),
            machine: other,
            teamIDs: teamIDs
        )
    }
}

extension LinkStateMachine {
    /// Takes a message as its frame's body.
    mutating func receive(_ message: Message) throws -> [Action] {
        received(body: try message.encoded())
    }
}
