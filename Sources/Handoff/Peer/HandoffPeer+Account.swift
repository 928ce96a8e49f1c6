import FoundationEssentials
import HandoffDiscovery
import HandoffModel
import HandoffSupport
import HandoffTransport

/// What the account says to its machines: it is taken from every peer and every program here, and passed on.
extension HandoffPeer {
    private var seconds: Int64 { Int64(wallClock().timeIntervalSince1970) }

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
            if announcedName != nil { try? announce() }
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
    private func use(_ identity: Identity) async {
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
    func remember(_ peer: RemotePeer, over link: Link) {
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

    // MARK: - Renewal

    /// How often is looked whether the certificate has to be renewed; its end is told in days.
    private static let renewalInterval = Duration.seconds(60 * 60)

    /// Asks for a new certificate where this one ends soon and a peer can give one; and looks again later.
    func renewIfDue() {
        guard !configuration.isVisitor, !isStopping else { return }
        renewalAlarm.set(at: clock.now + Self.renewalInterval) { [weak self] in await self?.renewIfDue() }
        guard !isRenewing, Renewal.isDue(end: context.identity.notAfter, now: seconds),
            let issuer = links.values.first(where: { $0.isConfirmed && $0.peer?.hello.holdsKey == true })?.peer
        else { return }
        isRenewing = spawn { await self.renew(by: issuer) }
    }

    private func renew(by issuer: RemotePeer) async {
        defer { isRenewing = false }
        let old = context.identity
        do {
            let answer = try await ask(issuer.id) {
                .renew(request: $0, certificateRequest: old.certificateRequest())
            }
            guard case .certificate(_, let certificate) = answer else {
                throw HandoffError(.handoffFailed, "the peer answered with something else than was asked for")
            }
            let renewed = try old.renewed(with: certificate, now: seconds)
            let path = identity.directory
            let saved = try await membership.onDisk { files in
                try path.map { try files.save(renewed, in: $0) } ?? renewed
            }
            await adopt(saved ?? renewed)
        } catch {
            log(.warning, "the certificate could not be renewed: \(error)", ["peer": "\(issuer.id)"])
        }
    }

    /// Goes on with a certificate that this or another program has renewed.
    private func adopt(_ present: Identity) async {
        let now = context.identity
        guard present.machineID == now.machineID, present.teamID == now.teamID, present.notAfter > now.notAfter else {
            return
        }
        await use(present.with(discoveryKey: now.discoveryKey))
        log(.info, "the certificate was renewed")
        changed()
    }

    /// Answers `renew`: the machine and the team are those of the certificate that was shown in this very connection.
    func answer(_ request: Int, renewal csr: [UInt8], of certificate: PeerCertificate) async -> Message {
        func refusal(_ text: String) -> Message { .failure(request: request, HandoffError(.refused, text)) }
        guard membership.holdsKey, let files = membership.files else {
            return refusal("this machine does not hold the account's key")
        }
        guard let machineID = certificate.machineID, certificate.teamIDs == [identity.teamID],
            !isRevoked(certificate)
        else { return refusal("the machine was revoked") }
        let now = seconds
        guard Renewal.isAllowed(end: certificate.notAfter, now: now) else {
            return refusal("the certificate is valid for long enough: compare the two machines' clocks")
        }
        let (path, accountHash) = (
            AccountStore(configuration: files.configuration).accountDirectory, identity.accountHash
        )
        do {
            let issued = try await membership.onDisk { _ -> [UInt8]? in
                let authority = try AccountAuthority(directory: path)
                guard authority.accountHash == accountHash else { return nil }
                return authority.issue(request: csr, team: certificate.teamIDs[0], machineID: machineID, now: now)
            }
            guard let issued = issued ?? nil else { return refusal("the certificate request cannot be used") }
            log(.info, "a certificate was renewed", ["peer.machine": machineID])
            return .certificate(request: request, issued)
        } catch {
            log(.warning, "a certificate could not be renewed: \(error)", ["peer.machine": machineID])
            return .failure(request: request, HandoffError(.handoffFailed, "the account's key cannot be used there"))
        }
    }
}

/// A stream that whoever uses it keeps.
struct WatchedStream: Sendable {
    weak var stream: StreamConnection?
}
