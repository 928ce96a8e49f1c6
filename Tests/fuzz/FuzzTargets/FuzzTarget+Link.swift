import FoundationEssentials
public import HandoffModel

extension FuzzTarget {
    private static let machine = UUID()
    private static let team = "A1B2C3D4E5"

    func checkLink(_ bytes: [UInt8]) throws(BrokenRule) {
        for role in [LinkRole.acceptor, .dialler] { try checkLink(bytes, as: role) }
    }

    private func checkLink(_ bytes: [UInt8], as role: LinkRole) throws(BrokenRule) {
        var generator = SystemRandomNumberGenerator()
        let policy = LinkPolicy(
            ourselves: PeerID(machine: Self.machine, instance: InstanceID(using: &generator)),
            teamID: Self.team,
            hello: Self.hello(InstanceID(using: &generator))
        )
        var link = LinkStateMachine(role: role, policy: policy, machine: UUID(), teamIDs: [Self.team])
        var decoder = FrameDecoder()
        var actions = link.start()
        decoder.append(bytes)
        do {
            while let body = try decoder.next() { actions += link.received(body: body) }
        } catch {
            actions += link.receivedMalformedFrame()
        }
        var isPaired = false
        var isClosed = false
        for action in actions {
            try require(!isClosed, "nothing follows the end")
            switch action {
            case .paired:
                try require(!isPaired, "a link is paired once")
                isPaired = true
            case .deliver: try require(isPaired, "nothing is delivered before a link is paired")
            case .close: isClosed = true
            case .send(let message): try require((try? message.encoded()) != nil, "what is to be sent can be encoded")
            }
        }
    }

    /// A greeting, for checks and corpus.
    public static func hello(_ instance: InstanceID) -> Hello {
        Hello(
            versions: .current,
            instance: instance,
            app: "org.handoff.notes",
            name: "Notes",
            host: "büro",
            isVisitor: false,
            types: ["org.handoff.notes.note"],
            service: "h-abcdefghij"
        )
    }
}
