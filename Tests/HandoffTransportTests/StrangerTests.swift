import COpenSSL
import HandoffSupport
import HandoffTestKit
import Testing

@testable import HandoffTransport

/// What somebody sees who is not of the account, or has only what others have let slip.
@Suite("A stranger at the door", .timeLimit(.minutes(1)))
struct StrangerTests {
    /// A fatal alert, handshake_failure, in plain: not one byte more.
    private static let bareAlert: [UInt8] = [21, 3, 3, 0, 2, 2, 40]

    /// A ClientHello; nil for the label leaves the server name out.
    private func hello(_ label: String?, groups: String? = nil) throws -> [UInt8] {
        let client = makeClient(try makeContext())
        _ = client.withHandle { COpenSSL_SSL_set_tlsext_host_name($0, label) }
        if let groups { _ = client.withHandle { COpenSSL_SSL_set1_groups_list($0, groups) } }
        _ = try client.handshake()
        return client.takeOutput()
    }

    /// Everything that the door answers to these bytes, to the connection's end.
    private func answer(of door: Door, to bytes: [UInt8]) async throws -> [UInt8] {
        let socket = try await Dialler.connect(to: door.addresses[0], clock: .system)
        _ = bytes.withUnsafeBytes { socket.send($0) }
        socket.shutDownWriting()
        var received: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 4096)
        while true {
            switch buffer.withUnsafeMutableBytes({ socket.receive(into: $0) }) {
            case .bytes(0), .failed: return received
            case .bytes(let count): received += buffer[..<count]
            case .wouldBlock: try await socket.wait(until: .readable)
            }
        }
    }

    @Test("gets a bare alert and no certificate, whatever it makes of the proof and whatever groups it offers")
    func bareAlerts() async throws {
        let door = try await Door.open(try makeContext(), clock: ManualClock().clock)
        let good = DialProof.make(discoveryKey: account.discoveryKey)
        let labels = [
            nil, "", "localhost", String(good.dropLast()), good + "a", String(good.prefix(26)), good.uppercased() + ".",
            "a" + good.dropFirst(), good.dropLast(2) + "aa",
            DialProof.make(discoveryKey: TestAccount().discoveryKey), String(repeating: "a", count: 52),
        ]
        for label in labels {
            // With P-384 first, a HelloRetryRequest would be due.
            for groups in [nil, "P-384:X25519", "P-384", "ffdhe2048"] {
                let answer = try await answer(of: door, to: hello(label, groups: groups))
                #expect(answer == Self.bareAlert, "\(label ?? "none") \(groups ?? "")")
            }
        }
        await door.listener.close()
    }

    @Test("gets no further with a ClientHello that was recorded, as it was or with its proof in another")
    func replays() async throws {
        let context = try makeContext()
        let door = try await Door.open(context, clock: ManualClock().clock)
        let label = DialProof.make(discoveryKey: account.discoveryKey)
        let recorded = try hello(label)
        // Whoever holds it up and is there first sees certificates (docs/security.md); encrypted, since the key is not his.
        let first = try await answer(of: door, to: recorded)
        #expect(first.first == 22 && first.count > Self.bareAlert.count)
        #expect(try await answer(of: door, to: recorded) == Self.bareAlert)
        #expect(try await answer(of: door, to: hello(label)) == Self.bareAlert)
        #expect(try await answer(of: door, to: hello(label, groups: "P-384:X25519")) == Self.bareAlert)
        await door.listener.close()
    }

    @Test("gets no further with the recorded hellos of a connection that was asked to try again")
    func replaysRetries() async throws {
        let context = try makeContext()
        let client = makeClient(try makeContext())
        _ = client.withHandle { COpenSSL_SSL_set1_groups_list($0, "P-384:P-256") }
        let server = makeServer(context)
        _ = try client.handshake()
        let first = client.takeOutput()
        server.receive(first)
        _ = try server.handshake()
        client.receive(server.takeOutput())
        _ = try client.handshake()
        let second = client.takeOutput()
        server.receive(second)
        _ = try server.handshake()
        #expect(server.isProven)

        let door = try await Door.open(context, clock: ManualClock().clock)
        // Before its second hello a client sends a record of 6 bytes, which is there for middleboxes only.
        for bytes in [first, Array(second.dropFirst(6)), first + second] {
            let answer = try await answer(of: door, to: bytes)
            #expect(answer == Self.bareAlert)
        }
        // Nor is a hello let in that is to be tried again, and has no proof.
        let other = makeServer(context)
        other.receive(try hello(nil, groups: "P-384:P-256"))
        #expect(throws: TransportError(.missingProof)) { try other.handshake() }
        await door.listener.close()
    }

    @Test("with a valid proof and weak groups alone is refused", arguments: ["P-384", "P-521", "X448", "ffdhe2048"])
    func refusesGroups(group: String) async throws {
        let door = try await Door.open(try makeContext(), clock: ManualClock().clock)
        let bytes = try hello(DialProof.make(discoveryKey: account.discoveryKey), groups: group)
        #expect(try await answer(of: door, to: bytes) == Self.bareAlert)
        await door.listener.close()
    }
}

/// What would let somebody in without a certificate, or with one that was judged long ago.
@Suite("Short cuts through the handshake")
struct ShortCutTests {
    @Test("A session ticket that the server itself could read is not taken, nor is early data")
    func refusesTickets() throws {
        let (ours, theirs) = (try makeContext(), try makeContext())
        // As if tickets had been left on, for one connection.
        let careless = makeServer(ours)
        careless.withHandle { ssl in
            _ = SSL_clear_options(ssl, COpenSSL_SSL_OP_NO_TICKET)
            _ = SSL_set_num_tickets(ssl, 2)
            _ = SSL_set_max_early_data(ssl, 16_384)
            _ = SSL_set_session_id_context(ssl, [1], 1)
        }
        let first = makeClient(theirs)
        #expect(try shakeHands(first, careless).server == nil)
        let session = try #require(first.withHandle { SSL_get1_session($0) })
        defer { SSL_SESSION_free(session) }
        try #require(SSL_SESSION_has_ticket(session) == 1)
        try #require(SSL_SESSION_get_max_early_data(session) == 16_384)

        let second = makeClient(theirs)
        var written = 0
        second.withHandle { ssl in
            _ = SSL_set_session(ssl, session)
            _ = SSL_write_early_data(ssl, "early", 5, &written)
        }
        try #require(written == 5)
        let server = makeServer(ours)
        let result = try shakeHands(second, server)
        #expect(result.client == nil && result.server == nil)
        #expect(server.withHandle { SSL_session_reused($0) } == 0)
        #expect(server.withHandle { SSL_get_early_data_status($0) } != SSL_EARLY_DATA_ACCEPTED)
        // It was judged anew, and none of the early bytes are there.
        #expect(server.peer?.machineID == theirs.identity.machineID)
        #expect(try server.read() == .wantsInput)
    }

    @Test("A pre-shared key in a hello with a valid proof is passed over: certificates are judged")
    func passesOverKeys() throws {
        for kind in [TestAccount.Kind.good, .expired] {
            let client = makeClient(try makeContext(kind))
            client.withHandle { SSL_set_psk_use_session_callback($0, offerKey) }
            let server = makeServer(try makeContext())
            let result = try shakeHands(client, server)
            #expect(server.withHandle { SSL_session_reused($0) } == 0)
            #expect(result.server?.code == (kind == .good ? nil : .certificateExpired))
        }
    }

    @Test("A pre-shared key that an enrolment would take is not taken")
    func refusesKeys() throws {
        let key = PreSharedKey(code: [1, 2, 3], salt: PreSharedKey.fixedSalt, cost: 2)
        let joining = EnrolmentEngine(joiningWith: key)
        _ = try joining.handshake()
        let server = makeServer(try makeContext())
        server.receive(Array(joining.output.bytes))
        #expect(throws: TransportError(.missingProof)) { try server.handshake() }
        #expect(server.takeOutput() == [21, 3, 3, 0, 2, 2, 40])
    }
}

/// Offers a pre-shared key, as OpenSSL asks for one while it writes a ClientHello.
private func offerKey(
    _ ssl: OpaquePointer?,
    _: OpaquePointer?,
    _ identity: UnsafeMutablePointer<UnsafePointer<UInt8>?>?,
    _ count: UnsafeMutablePointer<Int>?,
    _ session: UnsafeMutablePointer<OpaquePointer?>?
) -> CInt {
    identity?.pointee = offeredIdentity
    count?.pointee = 4
    session?.pointee = offeredKey.makeSession(for: ssl)
    return 1
}

private let offeredKey = PreSharedKey(code: [1, 2, 3], salt: PreSharedKey.fixedSalt, cost: 2)
/// Never freed, since OpenSSL keeps the address.
nonisolated(unsafe) private let offeredIdentity: UnsafePointer<UInt8> = {  // only read
    let bytes = UnsafeMutablePointer<UInt8>.allocate(capacity: 4)
    bytes.initialize(repeating: 7, count: 4)
    return UnsafePointer(bytes)
}()
