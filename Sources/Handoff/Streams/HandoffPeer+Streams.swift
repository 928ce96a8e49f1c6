import FoundationEssentials
import HandoffModel
import HandoffSupport
public import HandoffTransport

/// Streams: further connections between two linked peers, for what is too large for a message.
///
/// Who wants one asks for a ticket over the link, dials, and shows the ticket's token; from then on the bytes are those of
/// whoever the stream is for: an activity's app, or a file.
extension HandoffPeer {
    /// The ALPN name of the stream protocol.
    static let streamProtocol = "handoff-stream/1"
    /// How many streams one peer may have here at once.
    private static let maximumStreamsOfPeer = 32
    /// How many there may be in all.
    private static let maximumStreams = 64
    /// The first message has to be there by then.
    private static let openingLimit = Duration.seconds(5)

    /// Opens a stream of an activity that was continued here, for what is too large for its userInfo.
    ///
    /// - Parameter activity: What the app was given.
    /// - Returns: The stream; the app closes it. It may be open for as long as both apps want.
    /// - Throws: ``HandoffError``: `streamsUnsupported` where the activity has none, `connectionUnavailable` where the
    ///   origin cannot be reached, what the origin says; `CancellationError`.
    public func openStream(of activity: ContinuedActivity) async throws -> StreamConnection {
        guard activity.supportsContinuationStreams else { throw HandoffError.withoutStreams }
        return try await openStream(.activity(activity.id), from: activity.origin.id).stream
    }

    /// Gets a ticket, dials and shows the token.
    ///
    /// - Parameter limit: How long the other end may take to make the ticket.
    func openStream(
        _ source: StreamSource,
        from peer: PeerID,
        within limit: Duration = Link.Deadline.request
    ) async throws -> (stream: StreamConnection, ticket: StreamTicket) {
        guard case .stream(_, let ticket) = try await ask(peer, within: limit, { .openStream(request: $0, source) }),
            let connection = anyLink(to: peer)?.connection
        else { throw HandoffError(.handoffFailed, "the peer answered with something else than was asked for") }
        var address = connection.remoteAddress
        address.port = ticket.port
        do {
            let dialled = try await Dialler.dial(
                [address],
                applicationProtocol: Self.streamProtocol,
                context: context,
                expectedMachineID: connection.peer.machineID,
                clock: clock
            )
            // The same certificate as on the link, else the token would be shown to another one.
            guard dialled.peer.fingerprint == connection.peer.fingerprint else {
                dialled.abort()
                throw HandoffError(.notPaired, "the stream leads to another machine", pairing: .otherMachine)
            }
            let stream = try await dialled.makeStream()
            try watch(stream)
            try await stream.write(StreamFrame.opening(ticket.token))
            return (stream, ticket)
        } catch let error as TransportError {
            throw HandoffError(.connectionUnavailable, "the stream could not be opened: \(error)")
        }
    }

    // MARK: - The end that has something to give

    /// Answers `openStream`.
    func answer(
        _ request: Int,
        stream source: StreamSource,
        to peer: RemotePeer,
        over connection: Connection
    ) async -> Message {
        do {
            let (grant, offset) = try await grant(source, to: peer)
            let port = try await streamPort()
            let token = StreamToken(using: &generator)
            tokens.issue(token, to: connection.peer.fingerprint, at: clock.now, for: grant)
            watchTokens()
            return .stream(request: request, StreamTicket(token: token, port: port, offset: offset))
        } catch {
            log(.warning, "a stream was not given: \(error)", ["peer": "\(peer.id)"])
            let other = HandoffError(.handoffFailed, "the stream could not be made: \(error)")
            return .failure(request: request, error as? HandoffError ?? other)
        }
    }

    /// Lets go of what tokens hold that nobody has shown, files above all.
    private func watchTokens() {
        guard let deadline = tokens.deadline else { return tokenAlarm.cancel() }
        tokenAlarm.set(at: deadline) { [weak self] in await self?.removeExpiredTokens() }
    }

    private func removeExpiredTokens() {
        tokens.removeExpired(at: clock.now)
        watchTokens()
    }

    private func grant(_ source: StreamSource, to peer: RemotePeer) async throws -> (grant: StreamGrant, offset: Int64)
    {
        switch source {
        case .activity(let id):
            guard let served = served.last(where: { $0.activity.id == id && $0.fetchers.contains(peer.id) }),
                !served.activity.isInvalidated
            else { throw HandoffError(.handoffFailed, "the activity was not fetched, or is over") }
            guard served.activity.supportsContinuationStreams else { throw HandoffError.withoutStreams }
            let activity = served.activity
            return (StreamGrant(peer: peer) { await activity.didOpen($0, for: peer) }, 0)
        case .blob(let request):
            return try await grant(request, to: peer)
        }
    }

    /// Where streams are dialled; a visitor listens for them only once somebody wants one.
    private func streamPort() async throws -> UInt16 {
        if let port { return port }
        if let streamListener { return streamListener.port }
        let protocols = [Self.streamProtocol]
        let listener: Listener
        do {
            listener = try await Listener.bind(
                ports: configuration.ports,
                applicationProtocols: protocols,
                context: context,
                clock: clock
            )
        } catch let error as TransportError where error.code == .portInUse {
            listener = try await Listener.bind(
                ports: 0...0,
                applicationProtocols: protocols,
                context: context,
                clock: clock
            )
        }
        // Another request may have been faster.
        if let streamListener {
            await listener.close()
            return streamListener.port
        }
        streamListener = listener
        // It ends with the listener, at the end of run().
        spawn { try? await self.accept(from: listener) }
        return listener.port
    }

    /// Runs a stream that another machine has dialled.
    func serveStream(on connection: Connection) async {
        guard let stream = try? await connection.makeStream(), (try? watch(stream)) != nil else { return }
        let place = connection.remoteAddress.host
        guard let grant = await redeem(stream, at: place) else { return stream.abort() }
        let peer = grant.peer.id
        guard servedStreams[peer, default: 0] < Self.maximumStreamsOfPeer,
            servedStreams.values.reduce(0, +) < Self.maximumStreams
        else {
            log(.warning, "too many streams at once: one was refused", ["peer": "\(peer)"])
            return stream.abort()
        }
        servedStreams[peer, default: 0] += 1
        await grant.serve(stream)
        await stream.close()
        let rest = servedStreams[peer, default: 1] - 1
        servedStreams[peer] = rest > 0 ? rest : nil
        changed()
    }

    private func redeem(_ stream: StreamConnection, at place: String) async -> StreamGrant? {
        let late = TransportError(.timedOut, detail: "the first message of a stream")
        let message = try? await withDeadline(Self.openingLimit, clock: clock, timeoutError: late) {
            try await stream.readMessage()
        }
        guard let message, let token = StreamFrame.token(in: message),
            let grant = tokens.redeem(token, by: stream.peer.fingerprint, at: clock.now)
        else {
            log(.warning, "a stream without a token that is good was refused", ["peer.address": place])
            return nil
        }
        return grant
    }
}

/// What a token is good for.
struct StreamGrant: Sendable {
    let peer: RemotePeer
    /// Runs the stream to its end.
    let serve: @Sendable (StreamConnection) async -> Void
}

extension HandoffError {
    static let withoutStreams = HandoffError(.streamsUnsupported, "the activity has no streams")
}
