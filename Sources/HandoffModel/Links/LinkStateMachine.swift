public import FoundationEssentials

/// Which end of a link this is.
public enum LinkRole: Hashable, Sendable {
    /// It made the connection: it waits for the acceptor's `hello`.
    case dialler
    /// It took the connection: it speaks first.
    case acceptor
}

/// What a link needs to know to judge the other end.
public struct LinkPolicy: Sendable {
    /// Our own pair of ids.
    public let ourselves: PeerID
    /// Our team ID.
    public let teamID: String
    /// What we tell of ourselves.
    public let hello: Hello
    /// The machine that was meant to be dialled, where one was.
    public let expectedMachine: UUID?

    /// Makes a policy.
    public init(ourselves: PeerID, teamID: String, hello: Hello, expectedMachine: UUID? = nil) {
        self.ourselves = ourselves
        self.teamID = teamID
        self.hello = hello
        self.expectedMachine = expectedMachine
    }
}

/// The other end of a paired link: what its certificate proves and its `hello` tells.
public struct RemotePeer: Hashable, Sendable {
    /// Its pair of ids.
    public let id: PeerID
    /// What it tells of itself.
    public let hello: Hello
    /// The protocol version that both speak.
    public let version: Int

    /// Makes the description.
    public init(id: PeerID, hello: Hello, version: Int) {
        self.id = id
        self.hello = hello
        self.version = version
    }
}

/// How a link ended.
public enum LinkEnd: Hashable, Sendable {
    /// The other end said why.
    case bye(ByeReason)
    /// We ended it, and said why.
    case ended(ByeReason)
    /// The connection broke, or TLS refused it.
    case lost(PairingFailure)
}

/// The states of one link and what may follow what: `hello` both ways, then messages, then `bye`.
///
/// Pure: the shell carries out the actions in order.
public struct LinkStateMachine: Sendable {
    /// What the shell has to do.
    public enum Action: Hashable, Sendable {
        /// Send a message.
        case send(Message)
        /// The peer is paired: tell it everything from now on.
        case paired(RemotePeer)
        /// A message for the layer above.
        case deliver(Message)
        /// Close the connection; what was to be said has been said.
        case close(LinkEnd)
    }

    private enum State {
        case awaitingHello
        case awaitingConfirmation(RemotePeer)
        case paired
        case ended
    }

    private let role: LinkRole
    private let policy: LinkPolicy
    private let machine: UUID?
    private let teamIDs: [String]
    private var state = State.awaitingHello

    /// Makes the machine for a connection whose handshake is over.
    ///
    /// - Parameters:
    ///   - role: Which end we are.
    ///   - policy: What to judge by.
    ///   - machine: The machine id in the other end's certificate; nil where there is not exactly one.
    ///   - teamIDs: All organisational units of that certificate.
    public init(role: LinkRole, policy: LinkPolicy, machine: UUID?, teamIDs: [String]) {
        self.role = role
        self.policy = policy
        self.machine = machine
        self.teamIDs = teamIDs
    }

    /// Begins: the acceptor greets, or refuses at once what the certificate already tells.
    public mutating func start() -> [Action] {
        switch role {
        case .dialler: return []
        case .acceptor:
            if let failure = certificateFailure { return end(.refused(failure)) }
            return [.send(.hello(policy.hello))]
        }
    }

    /// Takes the body of a frame.
    public mutating func received(body: [UInt8]) -> [Action] {
        switch ReceivedMessage(body: body) {
        case nil: end(.refused(.protocolViolation))
        case .unknown(let request, let kind): unknown(request: request, kind: kind)
        case .known(let message): received(message)
        }
    }

    /// Takes a frame that is too long or malformed.
    public mutating func receivedMalformedFrame() -> [Action] {
        end(.refused(.protocolViolation))
    }

    /// Ends the link from our side.
    public mutating func end(_ reason: ByeReason) -> [Action] {
        if case .ended = state { return [] }
        state = .ended
        return [.send(.bye(reason)), .close(.ended(reason))]
    }

    /// The connection is gone.
    public mutating func connectionLost(_ failure: PairingFailure) -> [Action] {
        if case .ended = state { return [] }
        state = .ended
        return [.close(.lost(failure))]
    }

    private mutating func received(_ message: Message) -> [Action] {
        if case .bye(let reason) = message {
            if case .ended = state { return [] }
            state = .ended
            return [.close(.bye(reason))]
        }
        switch (state, message) {
        case (.ended, _):
            return []
        case (.awaitingHello, .hello(let hello)):
            return greeted(by: hello)
        case (.awaitingConfirmation(let peer), .offers):
            // The acceptor's first message after its hello is its offers: only now has it judged us.
            state = .paired
            return [.paired(peer), .deliver(message)]
        case (.paired, .ping(let sequence)):
            return [.send(.pong(sequence: sequence))]
        case (.paired, .hello), (.awaitingHello, _), (.awaitingConfirmation, _):
            return end(.refused(.protocolViolation))
        case (.paired, _):
            return [.deliver(message)]
        }
    }

    private mutating func unknown(request: Int?, kind: String) -> [Action] {
        switch state {
        case .ended: []
        case .paired: [.send(.unsupported(request: request, kind: kind))]
        case .awaitingHello, .awaitingConfirmation: end(.refused(.protocolViolation))
        }
    }

    private mutating func greeted(by hello: Hello) -> [Action] {
        if let failure = certificateFailure { return end(.refused(failure)) }
        guard let machine else { return end(.refused(.badCertificate)) }
        let id = PeerID(machine: machine, instance: hello.instance)
        guard id != policy.ourselves else { return end(.refused(.ourselves)) }
        guard let version = policy.hello.versions.negotiated(with: hello.versions) else {
            return end(.refused(.versionUnsupported))
        }
        let peer = RemotePeer(id: id, hello: hello, version: version)
        switch role {
        case .acceptor:
            state = .paired
            return [.paired(peer)]
        case .dialler:
            state = .awaitingConfirmation(peer)
            return [.send(.hello(policy.hello))]
        }
    }

    /// A dialler's other end, once that has greeted and until it is paired.
    public var prospect: RemotePeer? {
        if case .awaitingConfirmation(let peer) = state { peer } else { nil }
    }

    /// What the certificate alone says against pairing.
    private var certificateFailure: PairingFailure? {
        guard teamIDs == [policy.teamID] else { return .otherTeam }
        guard let machine else { return .badCertificate }
        if let expected = policy.expectedMachine, expected != machine { return .otherMachine }
        return nil
    }
}
