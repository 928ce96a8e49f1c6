import COpenSSL
import HandoffSupport
import HandoffTestKit
import Testing

@testable import HandoffTransport

@Suite("The dial proof")
struct DialProofTests {
    private func dial(_ client: TLSEngine, as label: String?) {
        // A nil name takes the extension away.
        _ = client.withHandle { COpenSSL_SSL_set_tlsext_host_name($0, label) }
    }

    @Test("It is one DNS label of 52 lower-case characters, and only its own key reads it")
    func isOneLabel() {
        let label = DialProof.make(discoveryKey: account.discoveryKey, nonce: Array(0..<16))
        #expect(label.utf8.count == 52 && label == label.lowercased() && !label.contains("."))
        #expect(DialProof.nonce(of: label, discoveryKey: account.discoveryKey) == Array(0..<16))
        #expect(DialProof.nonce(of: label, discoveryKey: Crypto.randomBytes(32)) == nil)
        #expect(DialProof.nonce(of: label + "a", discoveryKey: account.discoveryKey) == nil)
    }

    @Test("It is the HMAC that the protocol says")
    func isTheHMAC() {
        // Python: hmac.digest(bytes(range(32)), b"dial" + bytes(16), "sha256")[:16], base32 with the nonce before it.
        let label = DialProof.make(discoveryKey: Array(0..<32), nonce: [UInt8](repeating: 0, count: 16))
        #expect(label == "aaaaaaaaaaaaaaaaaaaaaaaaabkggand3gdt4tbr2qqday36sgzq")
    }

    @Test(
        "Without a valid one the server says seven bytes and nothing else",
        arguments: [nil, "localhost", "wrong key"]
    )
    func refusesWithoutProof(label: String?) throws {
        let client = makeClient(try makeContext())
        dial(client, as: label == "wrong key" ? DialProof.make(discoveryKey: Crypto.randomBytes(32)) : label)
        let server = makeServer(try makeContext())
        _ = try client.handshake()
        server.receive(client.takeOutput())
        let error = #expect(throws: TransportError.self) { try server.handshake() }
        #expect(error?.code == .missingProof && error?.refusedBy == .us)
        let answer = server.takeOutput()
        #expect(answer == [21, 3, 3, 0, 2, 2, 40])  // alert, fatal, handshake_failure
        #expect(!server.isProven)
        client.receive(answer)
        let reason = #expect(throws: TransportError.self) { try client.handshake() }
        #expect(reason?.code == .missingProof && reason?.refusedBy == .them)
    }

    @Test("One that was used is refused")
    func refusesReplay() throws {
        let context = try makeContext()
        let label = DialProof.make(discoveryKey: account.discoveryKey)
        let first = makeClient(try makeContext())
        dial(first, as: label)
        #expect(try shakeHands(first, makeServer(context)).server == nil)
        let second = makeClient(try makeContext())
        dial(second, as: label)
        let result = try shakeHands(second, makeServer(context))
        #expect(result.server?.code == .missingProof && result.client?.code == .missingProof)
    }

    @Test("One hello counts once, though a HelloRetryRequest makes it come twice")
    func survivesHelloRetryRequest() throws {
        let client = makeClient(try makeContext())
        let server = makeServer(try makeContext())
        _ = server.withHandle { COpenSSL_SSL_set1_groups_list($0, "P-256") }
        let result = try shakeHands(client, server)
        #expect(result.client == nil && result.server == nil)
        #expect(server.isProven && server.peer != nil)
    }

    @Test("An older discovery key opens no listener, but dials a machine that still has it")
    func dialsWithAnOlderKey() throws {
        let old = TestAccount()
        let context = try makeContext()
        func client() -> TLSEngine {
            TLSEngine(
                context: context,
                role: .client(applicationProtocol: "handoff/1", discoveryKey: old.discoveryKey)
            )
        }
        #expect(try shakeHands(client(), makeServer(try makeContext())).server?.code == .missingProof)
        // A machine of another account, so the proof is all that passes.
        #expect(try shakeHands(client(), makeServer(try makeContext(of: old))).client?.code == .otherAccount)
    }

    @Test("The memory of nonces forgets the oldest first")
    func forgetsTheOldest() {
        var memory = NonceMemory(capacity: 2)
        let verdicts = [[1], [2], [1], [3], [2], [3], [1]].map { memory.insert($0) }
        #expect(verdicts == [true, true, false, true, false, false, true])
    }
}
