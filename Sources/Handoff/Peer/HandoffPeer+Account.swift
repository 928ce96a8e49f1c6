import FoundationEssentials
import HandoffDiscovery
import HandoffModel
import HandoffSupport
import HandoffTransport

/// What the account says to its machines: it is taken from every peer and every program here, and passed on.
extension HandoffPeer {
    /// The time, in seconds since 1970.
    var seconds: Int64 { Int64(wallClock().timeIntervalSince1970) }

    /// The greeting's part of it: enough for most accounts; the rest, and the keys, follow once the peer is paired.
    var latestRevocations: [Revocation] {
        Array(membership.statements.revocations.ordered.prefix(Revocation.maximumInHello))
    }

    /// Whether the machine at the other end was revoked.
    func isRevoked(_ certificate: PeerCertificate) -> Bool { membership.isRevoked(certificate.machineID) }

    // MARK: - News

    /// Tells a peer that was just paired what the account has said.
    func tellStatements(over link: Link) async {
        links[link.id]?.isConfirmed = true
        let all = membership.statements
        guard !all.isEmpty, !isRevoked(link.connection.peer) else { return }
        await link.send(.revocations(all.revocations.ordered, keys: all.keys.ordered))
    }

    /// Takes in what a peer says that the account has said.
    func receive(_ revocations: [Revocation], keys: [DiscoveryKeyStatement], from peer: RemotePeer) async {
        guard !revocations.isEmpty || !keys.isEmpty else { return }
        var told = AccountStatements()
        told.revocations = StatementSet(revocations)
        told.keys = StatementSet(keys)
        let refusals = await learn(told)
        guard refusals > 0 else { return }
        log(.warning, "a peer told what the account has not signed", ["peer": "\(peer.id)", "count": "\(refusals)"])
    }

    /// Takes in what the account is said to have said, and acts on it.
    ///
    /// - Returns: How many signatures were bad.
    @discardableResult
    func learn(_ told: AccountStatements) async -> Int {
        let (news, refusals) = membership.take(told, now: seconds)
        if !news.isEmpty {
            await apply(news)
            spawn { await self.keep(news) }
        }
        return refusals
    }

    /// Other programs here hear of it by the file.
    private func keep(_ news: AccountStatements) async {
        let now = seconds
        do {
            _ = try await membership.onDisk { try $0.add(news, now: now) }
        } catch {
            log(.error, "what the account says cannot be kept: \(error)")
        }
    }

    /// Acts on what was not known before.
    private func apply(_ news: AccountStatements) async {
        for revocation in news.revocations.ordered {
            log(.warning, "a machine was revoked", ["peer.machine": revocation.machine.uuidString.lowercased()])
        }
        if news.revocations[id.machine] != nil {
            log(.error, "this machine was revoked: no other machine of the account links to it any more")
        }
        // First, so that nothing more is said to them, the new key least of all.
        await cutRevoked()
        if !news.keys.isEmpty, let current = membership.discoveryKeys().first,
            current != context.identity.discoveryKey
        {
            await use(context.identity.with(discoveryKey: current))
            log(.info, "another discovery key: announced under a new name")
            // Also where the first announcement is still on its way: it was made with the old key.
            if !isStopping { try? announce() }
        }
        // What was seen may be known by a key that is new here.
        if !news.keys.isEmpty { for announced in Array(services.values) { found(announced.service) } }
        for entry in links.values where entry.isConfirmed && !isRevoked(entry.link.connection.peer) {
            spawn { await entry.link.send(.revocations(news.revocations.ordered, keys: news.keys.ordered)) }
        }
        changed()
    }

    /// Ends all links and streams of machines that were revoked.
    private func cutRevoked() async {
        let revocations = membership.statements.revocations
        for entry in links.values where isRevoked(entry.link.connection.peer) {
            // So that its user can see why, in the account's own words; nobody waits until it has taken them.
            if entry.isConfirmed, let own = entry.peer.flatMap({ revocations[$0.id.machine] }) {
                spawn { await entry.link.send(.revocations([own], keys: [])) }
            }
            let isTaken = spawn { await entry.link.close(.refused(.revoked)) }
            if !isTaken { entry.link.connection.abort() }
        }
        for stream in streams.compactMap(\.stream) where isRevoked(stream.peer) { stream.abort() }
    }

    /// Keeps a stream in sight for as long as somebody uses it, so that it can be cut.
    ///
    /// - Throws: `TransportError` where its machine was revoked.
    func watch(_ stream: StreamConnection) throws {
        streams.removeAll { $0.stream == nil }
        guard !isRevoked(stream.peer) else {
            stream.abort()
            throw TransportError(.certificateRevoked, refusedBy: .us)
        }
        streams.append(WatchedStream(stream: stream))
    }

    /// Uses another certificate or discovery key for all connections from now on.
    func use(_ identity: Identity) async {
        do {
            context = try Self.makeContext(identity, membership)
        } catch {
            return log(.error, "the new identity cannot be used: \(error)")
        }
        await listener?.use(context)
        await streamListener?.use(context)
    }

    static func makeContext(_ identity: Identity, _ membership: Membership) throws -> TLSContext {
        try TLSContext(identity: identity) { machineID, _ in membership.isRevoked(machineID) }
    }

    // MARK: - Other programs of this machine

    /// Follows what other programs here write: `handoff account revoke`, and apps that have heard something.
    func followAccount() async {
        let paths = [membership.files?.directory, identity.directory].compactMap(\.self)
        guard !paths.isEmpty else { return }
        let changes: DirectoryChanges
        do {
            _ = try await membership.onDisk { try $0.makeDirectory() }
            changes = try DirectoryChanges(in: paths)
        } catch {
            return log(.warning, "what other programs of this machine learn is not seen: \(error)")
        }
        // What changed between the peer's making and now.
        repeat { await readAccount() } while (try? await changes.next()) != nil
    }

    private func readAccount() async {
        let path = identity.directory
        do {
            guard
                let (told, present) = try await membership.onDisk({ files in
                    (try files.statements(), path.flatMap { try? Identity.load(directory: $0) })
                })
            else { return }
            let (news, _) = membership.take(told, now: seconds)
            if !news.isEmpty { await apply(news) }
            if let present { await adopt(present) }
        } catch {
            log(.error, "what the account says cannot be read: \(error)")
        }
    }

    // MARK: - Who was met

    /// Remembers a machine for people who look (`handoff account peers`).
    func rememberMachine(of peer: RemotePeer, over link: Link) {
        guard membership.files != nil else { return }
        let certificate = link.connection.peer
        let machine = KnownMachine(
            id: peer.id.machine,
            host: peer.hello.host,
            teams: Set(certificate.teamIDs),
            lastSeen: wallClock(),
            certificateEnd: Date(timeIntervalSince1970: TimeInterval(certificate.notAfter)),
            serial: BaseEncoding.decodeHexadecimal(certificate.serial) ?? [],
            holdsKey: peer.hello.holdsKey
        )
        spawn {
            do {
                _ = try await self.membership.onDisk { try $0.note(machine) }
            } catch {
                self.log(.warning, "the account's machines cannot be remembered: \(error)")
            }
        }
    }
}

/// A stream that whoever uses it keeps.
struct WatchedStream: Sendable {
    weak var stream: StreamConnection?
}
