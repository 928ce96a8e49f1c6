import FoundationEssentials
import HandoffModel
import HandoffSupport
import HandoffTransport

/// Renewal: a machine asks for a new certificate before its own ends, and the one with the account's key gives it.
extension HandoffPeer {
    /// How often is looked whether the certificate has to be renewed; its end is told in days.
    private static let renewalInterval = Duration.seconds(60 * 60)

    /// Asks for a new certificate where this one ends soon and a peer can give one; and looks again later.
    func renewIfDue() {
        guard !configuration.isVisitor, !isStopping else { return }
        renewalAlarm.set(at: clock.now + Self.renewalInterval) { [weak self] in await self?.renewIfDue() }
        guard !isRenewing, Renewal.isDue(end: context.identity.notAfter, now: seconds) else { return }
        guard !membership.holdsKey else {
            isRenewing = spawn { await self.renewHere() }
            return
        }
        guard
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
            try await take(certificate, for: old)
        } catch {
            log(.warning, "the certificate could not be renewed: \(error)", ["peer": "\(issuer.id)"])
        }
    }

    /// The machine that holds the account's key asks nobody.
    private func renewHere() async {
        defer { isRenewing = false }
        let old = context.identity
        do {
            guard !membership.isRevoked(old.machineID),
                let certificate = try await issue(old.certificateRequest(), machineID: old.machineID, team: old.teamID)
            else { return }
            try await take(certificate, for: old)
        } catch {
            log(.warning, "the certificate could not be renewed: \(error)")
        }
    }

    /// Checks a new certificate as a peer would, saves it and goes on with it.
    private func take(_ certificate: [UInt8], for old: Identity) async throws {
        let renewed = try old.renewed(with: certificate, now: seconds)
        let path = identity.directory
        let saved = try await membership.onDisk { files in
            try path.map { try files.save(renewed, in: $0) } ?? renewed
        }
        await adopt(saved ?? renewed)
    }

    /// Issues a certificate with the account's key.
    ///
    /// - Returns: Nil where the request cannot be used, or the key here is another account's.
    private func issue(_ csr: [UInt8], machineID: String, team: String) async throws -> [UInt8]? {
        let (now, accountHash) = (seconds, identity.accountHash)
        let issued = try await membership.onDisk { files -> [UInt8]? in
            let store = AccountStore(configuration: files.configuration)
            let authority = try AccountAuthority(directory: store.accountDirectory)
            guard authority.accountHash == accountHash else { return nil }
            return authority.issue(request: csr, team: team, machineID: machineID, now: now)
        }
        return issued ?? nil
    }

    /// Goes on with a certificate that this or another program has renewed.
    func adopt(_ present: Identity) async {
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
        guard membership.holdsKey else { return refusal("this machine does not hold the account's key") }
        guard let machineID = certificate.machineID, certificate.teamIDs == [identity.teamID],
            !isRevoked(certificate)
        else { return refusal("the machine was revoked") }
        guard Renewal.isAllowed(end: certificate.notAfter, now: seconds) else {
            return refusal("the certificate is valid for long enough: compare the two machines' clocks")
        }
        do {
            guard let issued = try await issue(csr, machineID: machineID, team: identity.teamID) else {
                return refusal("the certificate request cannot be used")
            }
            log(.info, "a certificate was renewed", ["peer.machine": machineID])
            return .certificate(request: request, issued)
        } catch {
            log(.warning, "a certificate could not be renewed: \(error)", ["peer.machine": machineID])
            return .failure(request: request, HandoffError(.handoffFailed, "the account's key cannot be used there"))
        }
    }
}
