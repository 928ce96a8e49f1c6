import COpenSSL
import HandoffTestKit
import Testing

@testable import HandoffTransport

@Suite("The TLS engine")
struct TLSEngineTests {
    @Test("Two machines of an account shake hands and exchange bytes")
    func exchangesBytes() throws {
        let client = makeClient(try makeContext())
        let server = makeServer(try makeContext())
        let result = try shakeHands(client, server)
        #expect(result.client == nil && result.server == nil)
        #expect(client.applicationProtocol == "handoff/1" && server.applicationProtocol == "handoff/1")
        #expect(server.peer?.machineID == client.context.identity.machineID)
        #expect(client.peer?.teamIDs == [account.teamID])
        #expect(client.peer?.serial == server.context.identity.serial)
        #expect(client.peer?.accountHash == client.context.identity.accountHash)

        let message = (0..<300_000).map { UInt8(truncatingIfNeeded: $0) }
        try message.withUnsafeBytes { try server.write($0) }
        server.close()
        client.receive(server.takeOutput())
        var received: [UInt8] = []
        while case .bytes(let bytes) = try client.read() { received += bytes }
        #expect(received == message)
        #expect(try client.read() == .closed)
    }

    @Test(
        "The server refuses a bad certificate, and both ends know why",
        arguments: [
            (TestAccount.Kind.expired, TransportError.Code.certificateExpired),
            (.notYetValid, .certificateNotYetValid),
            (.selfSigned, .selfSigned),
            (.otherAccount, .otherAccount),
            (.issuedByMachine, .otherAccount),
            (.foreignKey, .badCertificate),
        ]
    )
    func serverRefuses(kind: TestAccount.Kind, code: TransportError.Code) throws {
        let result = try shakeHands(makeClient(try makeContext(kind)), makeServer(try makeContext()))
        #expect(result.server?.code == code && result.server?.refusedBy == .us)
        #expect(result.client?.code == code && result.client?.refusedBy == .them)
    }

    @Test(
        "The client refuses a bad certificate, and both ends know why",
        arguments: [
            (TestAccount.Kind.expired, TransportError.Code.certificateExpired),
            (.notYetValid, .certificateNotYetValid),
            (.selfSigned, .selfSigned),
            (.otherAccount, .otherAccount),
            (.issuedByMachine, .otherAccount),
            (.foreignKey, .badCertificate),
        ]
    )
    func clientRefuses(kind: TestAccount.Kind, code: TransportError.Code) throws {
        let result = try shakeHands(makeClient(try makeContext()), makeServer(try makeContext(kind)))
        #expect(result.client?.code == code && result.client?.refusedBy == .us)
        #expect(result.server?.code == code && result.server?.refusedBy == .them)
    }

    @Test(
        "The team is left to the caller, who sees every OU",
        arguments: [(TestAccount.Kind.otherTeam, 1), (.twoTeams, 2), (.noTeam, 0)]
    )
    func leavesTeamsToTheCaller(kind: TestAccount.Kind, count: Int) throws {
        let server = makeServer(try makeContext())
        let result = try shakeHands(makeClient(try makeContext(kind)), server)
        #expect(result.client == nil && result.server == nil)
        #expect(server.peer?.teamIDs.count == count)
        #expect(server.peer?.teamIDs != [account.teamID])
    }

    @Test("A certificate issued by a machine is refused though that one's is sent along, in either direction")
    func refusesChains() throws {
        func sendsChain(_ engine: TLSEngine) -> TLSEngine {
            let issuer = UnsafeMutableRawPointer(account.machineCertificate)
            _ = engine.withHandle { SSL_ctrl($0, SSL_CTRL_CHAIN_CERT, 1, issuer) }
            return engine
        }
        let bad = try makeContext(.issuedByMachine)
        var result = try shakeHands(sendsChain(makeClient(bad)), makeServer(try makeContext()))
        #expect(result.server?.code == .otherAccount && result.server?.refusedBy == .us)
        #expect(result.client?.code == .otherAccount && result.client?.refusedBy == .them)
        result = try shakeHands(makeClient(try makeContext()), sendsChain(makeServer(bad)))
        #expect(result.client?.code == .otherAccount && result.client?.refusedBy == .us)
        #expect(result.server?.code == .otherAccount && result.server?.refusedBy == .them)
    }

    @Test("A revoked certificate is refused in either direction")
    func refusesRevoked() throws {
        let victim = try makeContext()
        let identity = victim.identity
        let judge = try makeContext { $0 == identity.machineID && $1 == identity.serial }
        var result = try shakeHands(makeClient(victim), makeServer(judge))
        #expect(result.server?.code == .certificateRevoked && result.server?.refusedBy == .us)
        #expect(result.client?.code == .certificateRevoked && result.client?.refusedBy == .them)
        result = try shakeHands(makeClient(judge), makeServer(victim))
        #expect(result.client?.code == .certificateRevoked && result.client?.refusedBy == .us)
        #expect(result.server?.code == .certificateRevoked && result.server?.refusedBy == .them)
        #expect(try shakeHands(makeClient(try makeContext()), makeServer(judge)).server == nil)
    }

    @Test("A client without a certificate is refused")
    func refusesNoCertificate() throws {
        let client = makeClient(try makeContext())
        client.withHandle { SSL_certs_clear($0) }
        let result = try shakeHands(client, makeServer(try makeContext()))
        #expect(result.server?.code == .noCertificate && result.server?.refusedBy == .us)
        #expect(result.client?.code == .noCertificate && result.client?.refusedBy == .them)
    }

    @Test("TLS 1.2 is refused in either direction")
    func refusesOldVersion() throws {
        func downgrade(_ engine: TLSEngine) {
            engine.withHandle { ssl in
                _ = COpenSSL_SSL_set_min_proto_version(ssl, TLS1_2_VERSION)
                _ = COpenSSL_SSL_set_max_proto_version(ssl, TLS1_2_VERSION)
            }
        }
        let client = makeClient(try makeContext())
        downgrade(client)
        var result = try shakeHands(client, makeServer(try makeContext()))
        #expect(result.server?.code == .tlsVersion && result.server?.refusedBy == .us)
        #expect(result.client?.code == .tlsVersion && result.client?.refusedBy == .them)
        let server = makeServer(try makeContext())
        downgrade(server)
        result = try shakeHands(makeClient(try makeContext()), server)
        #expect(result.server?.code == .tlsVersion)
        #expect(result.client?.code == .tlsVersion)
    }

    @Test("A client with another application protocol, or none, is refused", arguments: [true, false])
    func refusesOtherProtocol(offersSome: Bool) throws {
        let client = makeClient(try makeContext(), applicationProtocol: "something/9")
        if !offersSome { _ = client.withHandle { SSL_set_alpn_protos($0, nil, 0) } }
        let result = try shakeHands(client, makeServer(try makeContext()))
        #expect(result.server?.code == .applicationProtocol && result.server?.refusedBy == .us)
        #expect(result.client?.code == .applicationProtocol && result.client?.refusedBy == .them)
    }

    @Test("A peer that asks for new keys without end is cut off")
    func boundsKeyUpdates() throws {
        let client = makeClient(try makeContext())
        let server = makeServer(try makeContext())
        _ = try shakeHands(client, server)
        let error = #expect(throws: TransportError.self) {
            for _ in 0..<5000 {
                client.withHandle { ssl in
                    _ = SSL_key_update(ssl, SSL_KEY_UPDATE_REQUESTED)
                    _ = COpenSSL_SSL_do_handshake(ssl)
                }
                server.receive(client.takeOutput())
                _ = try server.read()  // and nobody takes the server's output
            }
        }
        #expect(error?.code == .tlsFailure)
        #expect(server.output.count < 2 * TLSEngine.largestAnswer)
    }
}
