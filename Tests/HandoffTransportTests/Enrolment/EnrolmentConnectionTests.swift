import COpenSSL
import Foundation
import HandoffSupport
import HandoffTestKit
import Testing

@testable import HandoffTransport

/// The keys of one code, and of another one.
private let salt = [UInt8](repeating: 7, count: PreSharedKey.saltLength)
private let salted = PreSharedKey(code: Array(0..<10), salt: salt, cost: 2)
private let fixed = PreSharedKey(code: Array(0..<10), salt: PreSharedKey.fixedSalt, cost: 2)
private let wrong = PreSharedKey(code: Array(1..<11), salt: salt, cost: 2)

@Suite("TLS by an invitation's code", .timeLimit(.minutes(1)))
struct EnrolmentConnectionTests {
    /// Carries bytes between two ends until neither has more to say.
    private func shakeHands(
        _ joiner: EnrolmentEngine,
        _ inviter: EnrolmentEngine
    ) -> (joiner: EnrolmentFailure?, inviter: EnrolmentFailure?, isOver: Bool) {
        var failures: (EnrolmentFailure?, EnrolmentFailure?) = (nil, nil)
        var isOver = (false, false)
        for _ in 0..<5 {
            do { isOver.0 = try joiner.handshake() } catch { failures.0 = failures.0 ?? error }
            move(from: joiner, to: inviter)
            do { isOver.1 = try inviter.handshake() } catch { failures.1 = failures.1 ?? error }
            move(from: inviter, to: joiner)
        }
        return (failures.0, failures.1, isOver.0 && isOver.1)
    }

    private func move(from source: EnrolmentEngine, to target: EnrolmentEngine) {
        target.input.append(source.output.bytes)
        source.output.drop(source.output.count)
    }

    @Test("stands where both know it, with either salt, and carries bytes", arguments: [salted, fixed])
    func right(_ key: PreSharedKey) throws {
        let (joiner, inviter) = (EnrolmentEngine(joiningWith: key), EnrolmentEngine(invitingWith: [salted, fixed]))
        let result = shakeHands(joiner, inviter)
        #expect(result.joiner == nil && result.inviter == nil && result.isOver)
        try joiner.write([1, 2, 3])
        move(from: joiner, to: inviter)
        #expect(try inviter.read() == .bytes([1, 2, 3]))
    }

    @Test("fails at both ends with another code, and both know why")
    func wrongCode() {
        let result = shakeHands(EnrolmentEngine(joiningWith: wrong), EnrolmentEngine(invitingWith: [salted, fixed]))
        #expect(result.inviter == .wrongCode)
        #expect(result.joiner == .wrongCode)
        #expect(!result.isOver)
    }

    @Test("fails with a salt that the other end has not")
    func unknownSalt() {
        let result = shakeHands(EnrolmentEngine(joiningWith: salted), EnrolmentEngine(invitingWith: [fixed]))
        #expect(result.joiner == .unknownSalt)
        #expect(!result.isOver)
    }

    @Test("is not what a peer's listener speaks, nor does who joins take a certificate for the code")
    func notAPeer() throws {
        let joiner = EnrolmentEngine(joiningWith: salted)
        let server = TLSEngine(
            context: try makeContext(),
            role: .server(applicationProtocols: [PreSharedKey.applicationProtocol])
        )
        _ = try? joiner.handshake()
        server.input.append(joiner.output.bytes)
        #expect(throws: TransportError.self) { try server.handshake() }
        joiner.input.append(server.output.bytes)
        #expect(throws: EnrolmentFailure.self) { try joiner.handshake() }
    }

    @Test("of another salt or code is another key")
    func keys() {
        #expect(Set([salted, fixed, wrong].map(\.bytes)).count == 3)
        #expect(salted.bytes == PreSharedKey(code: Array(0..<10), salt: salt, cost: 2).bytes)
    }

    @Test("is judged by whoever owns the listener, over sockets")
    func sockets() async throws {
        let listener = try EnrolmentListener(ports: 0...0, keys: [salted, fixed], clock: .system)
        let address = try #require(SocketAddress(numeric: "127.0.0.1", port: listener.port))
        let running = Task { try await listener.run() }
        defer { running.cancel() }
        async let joined = EnrolmentConnection.dial(address, key: fixed, clock: .system)
        let accepted = try #require(try await listener.connections.next())
        #expect(await !accepted.hasPassedHello)
        try await accepted.finishHandshake()
        let joiner = try await joined
        try await joiner.send([42])
        #expect(try await accepted.receive() == [42])
        await accepted.close()
        #expect(try await joiner.receive() == nil)
    }

    @Test("does not wait for the rest of a ClientHello")
    func incomplete() async throws {
        let listener = try EnrolmentListener(ports: 0...0, keys: [salted], clock: .system)
        let address = try #require(SocketAddress(numeric: "127.0.0.1", port: listener.port))
        let running = Task { try await listener.run() }
        defer { running.cancel() }
        let socket = try await Dialler.connect(to: address, clock: .system)
        // A record of 4 bytes: a ClientHello that goes on for 256 bytes in the next record, which never comes.
        let record: [UInt8] = [0x16, 3, 1, 0, 4, 1, 0, 1, 0]
        _ = record.withUnsafeBytes { socket.send($0) }
        let accepted = try #require(try await listener.connections.next())
        await #expect(throws: EnrolmentFailure.self) { try await accepted.finishHandshake() }
        #expect(await !accepted.hasPassedHello)
    }

    /// `openssl s_client`, which speaks to a listener with options of its own.
    private func startClient(_ listener: EnrolmentListener, _ options: [String]) throws -> (Process, FileHandle) {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments =
            ["openssl", "s_client", "-quiet", "-tls1_3", "-connect", "127.0.0.1:\(listener.port)"] + options
        let input = Pipe()
        process.standardInput = input
        process.standardOutput = Pipe()
        process.standardError = Pipe()
        try process.run()
        return (process, input.fileHandleForWriting)
    }

    @Test("stands with a client that is not ours, given the same key")
    func foreignClient() async throws {
        let listener = try EnrolmentListener(ports: 0...0, keys: [salted, fixed], clock: .system)
        let running = Task { try await listener.run() }
        defer { running.cancel() }
        let (client, input) = try startClient(
            listener,
            [
                "-psk", BaseEncoding.hexadecimal(fixed.bytes), "-psk_identity", "handoff-enroll",
                "-ciphersuites", "TLS_AES_128_GCM_SHA256", "-groups", "X25519", "-alpn",
                PreSharedKey.applicationProtocol,
            ]
        )
        defer { client.terminate() }
        let accepted = try #require(try await listener.connections.next())
        try await accepted.finishHandshake()
        input.write(Data("hello".utf8))
        #expect(try await accepted.receive() == Array("hello".utf8))
    }

    @Test(
        "is not waited for with a client that has no key, nor the right group",
        arguments: ["X25519", "P-256:X25519"]
    )
    func keyless(_ groups: String) async throws {
        let listener = try EnrolmentListener(ports: 0...0, keys: [salted, fixed], clock: .system)
        let running = Task { try await listener.run() }
        defer { running.cancel() }
        let (client, _) = try startClient(listener, ["-groups", groups, "-alpn", PreSharedKey.applicationProtocol])
        defer { client.terminate() }
        let accepted = try #require(try await listener.connections.next())
        await #expect(throws: EnrolmentFailure.self) { try await accepted.finishHandshake() }
        #expect(await !accepted.hasPassedHello)
    }
}
