import FoundationEssentials
import HandoffModel
import Testing

@Suite("The states of a link")
struct LinkStateMachineTests {
    private typealias Fixture = LinkFixture
    private let refusedForProtocol: [LinkStateMachine.Action] = [
        .send(.bye(.refused(.protocolViolation))), .close(.ended(.refused(.protocolViolation))),
    ]

    @Test("The acceptor greets first, and is paired by the dialler's hello")
    func acceptorIsPaired() throws {
        var machine = Fixture.machine(.acceptor)
        #expect(machine.start() == [.send(.hello(Fixture.hello(Fixture.a)))])
        let peer = RemotePeer(id: Fixture.b, hello: Fixture.hello(Fixture.b), version: 1)
        #expect(try machine.receive(.hello(Fixture.hello(Fixture.b))) == [.paired(peer)])
    }

    @Test("The dialler writes nothing before the acceptor's hello, and is paired by its first offers")
    func diallerIsPaired() throws {
        var machine = Fixture.machine(.dialler)
        #expect(machine.start() == [])
        let greeting = try machine.receive(.hello(Fixture.hello(Fixture.b)))
        #expect(greeting == [.send(.hello(Fixture.hello(Fixture.a)))])
        let peer = RemotePeer(id: Fixture.b, hello: Fixture.hello(Fixture.b), version: 1)
        #expect(try machine.receive(.offers([])) == [.paired(peer), .deliver(.offers([]))])
    }

    @Test("A dialler that is refused after its hello was never paired")
    func refusedAfterHello() throws {
        var machine = Fixture.machine(.dialler)
        _ = try machine.receive(.hello(Fixture.hello(Fixture.b)))
        #expect(try machine.receive(.bye(.refused(.revoked))) == [.close(.bye(.refused(.revoked)))])
    }

    @Test(
        "What the certificate tells against the peer is said before any hello is answered",
        arguments: [
            (["OTHERTEAM1"], Fixture.machineB, nil, PairingFailure.otherTeam),
            ([], Fixture.machineB, nil, .otherTeam),
            ([Fixture.team, "OTHERTEAM1"], Fixture.machineB, nil, .otherTeam),
            ([Fixture.team, Fixture.team], Fixture.machineB, nil, .otherTeam),
            ([Fixture.team], nil, nil, .badCertificate),
            ([Fixture.team], Fixture.machineB, Fixture.machineA, .otherMachine),
        ] as [([String], UUID?, UUID?, PairingFailure)]
    )
    func certificateRefused(teamIDs: [String], machine: UUID?, expected: UUID?, failure: PairingFailure) throws {
        let refusal: [LinkStateMachine.Action] = [
            .send(.bye(.refused(failure))), .close(.ended(.refused(failure))),
        ]
        var acceptor = Fixture.machine(.acceptor, with: machine, teamIDs: teamIDs, expecting: expected)
        #expect(acceptor.start() == refusal)
        var dialler = Fixture.machine(.dialler, with: machine, teamIDs: teamIDs, expecting: expected)
        #expect(try dialler.receive(.hello(Fixture.hello(Fixture.b))) == refusal)
    }

    @Test("A peer that is this very process is refused, another process of the machine is not")
    func ourselves() throws {
        var same = Fixture.machine(.acceptor, with: Fixture.machineA)
        _ = same.start()
        #expect(
            try same.receive(.hello(Fixture.hello(Fixture.a))) == [
                .send(.bye(.refused(.ourselves))), .close(.ended(.refused(.ourselves))),
            ]
        )
        var sibling = Fixture.machine(.acceptor, with: Fixture.machineA)
        _ = sibling.start()
        let other = PeerID(machine: Fixture.machineA, instance: Fixture.instance(9))
        let hello = Fixture.hello(other)
        #expect(
            try sibling.receive(.hello(hello)) == [.paired(RemotePeer(id: other, hello: hello, version: 1))]
        )
    }

    @Test("The highest common version is spoken, and a peer without one is refused")
    func versions() throws {
        var newer = Fixture.machine(.acceptor, versions: "1-3")
        _ = newer.start()
        let hello = Fixture.hello(Fixture.b, versions: "1-2")
        #expect(
            try newer.receive(.hello(hello)) == [.paired(RemotePeer(id: Fixture.b, hello: hello, version: 2))]
        )
        var older = Fixture.machine(.dialler)
        #expect(
            try older.receive(.hello(Fixture.hello(Fixture.b, versions: "2"))) == [
                .send(.bye(.refused(.versionUnsupported))), .close(.ended(.refused(.versionUnsupported))),
            ]
        )
    }

    private static let anyMessages: [Message] = [
        .hello(Fixture.hello(Fixture.b)), .ping(sequence: 1), .pong(sequence: 1), .offers([]),
        .fetch(request: 1, activity: Fixture.machineA), .failure(request: 1, HandoffError(.expired, "late")),
        .continued(activity: Fixture.machineA), .unsupported(request: nil, kind: "x"),
    ]

    @Test("Whatever comes before hello ends the link", arguments: anyMessages.dropFirst())
    func beforeHello(message: Message) throws {
        for role in [LinkRole.dialler, .acceptor] {
            var machine = Fixture.machine(role)
            _ = machine.start()
            #expect(try machine.receive(message) == refusedForProtocol)
        }
    }

    @Test("A second hello ends the link, at each step", arguments: [LinkRole.dialler, .acceptor])
    func secondHello(role: LinkRole) throws {
        var machine = Fixture.machine(role)
        _ = machine.start()
        _ = try machine.receive(.hello(Fixture.hello(Fixture.b)))
        #expect(try machine.receive(.hello(Fixture.hello(Fixture.b))) == refusedForProtocol)
    }

    @Test("A link that ended does nothing more", arguments: anyMessages)
    func afterTheEnd(message: Message) throws {
        var machine = Fixture.machine(.acceptor)
        _ = machine.start()
        _ = machine.end(.leaving)
        #expect(try machine.receive(message) == [])
        #expect(machine.end(.leaving) == [])
        #expect(machine.connectionLost(.connectionLost) == [])
        #expect(machine.receivedMalformedFrame() == [])
    }

    @Test("A ping is answered, an unknown kind too, and neither reaches the app")
    func answeredByTheLink() throws {
        var machine = try paired()
        #expect(try machine.receive(.ping(sequence: 7)) == [.send(.pong(sequence: 7))])
        let body = try BinaryPropertyList.encode(["kind": "teleport", "request": 3])
        #expect(machine.received(body: body) == [.send(.unsupported(request: 3, kind: "teleport"))])
    }

    @Test(
        "A body that is no message ends the link",
        arguments: [
            [], Array("bplist00".utf8), Array("{}".utf8), [UInt8](repeating: 0, count: 64),
        ]
    )
    func malformedBody(body: [UInt8]) throws {
        var machine = try paired()
        #expect(machine.received(body: body) == refusedForProtocol)
    }

    @Test("A known kind that lacks a field ends the link")
    func missingField() throws {
        for fields: PropertyList in [
            ["kind": "fetch", "request": 1], ["kind": "ping"], ["kind": "offers"], ["kind": 5], ["request": 1],
            ["kind": "offers", "offers": [["id": "no uuid", "type": "a.b", "title": ""]]],
            ["kind": "activity", "request": 1, "activity": ["id": "x"]],
            ["kind": "error", "request": 1, "code": "one"],
        ] {
            var machine = try paired()
            #expect(machine.received(body: try BinaryPropertyList.encode(fields)) == refusedForProtocol)
        }
    }

    private func paired() throws -> LinkStateMachine {
        var machine = Fixture.machine(.acceptor)
        _ = machine.start()
        _ = try machine.receive(.hello(Fixture.hello(Fixture.b)))
        return machine
    }
}
