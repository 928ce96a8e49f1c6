import COpenSSL
import Glibc
import HandoffSupport
import HandoffTestKit
import Testing

@testable import HandoffTransport

@Suite("The listener and the dialler", .timeLimit(.minutes(1)), .serialized)
struct DoorTests {
    private func dial(_ door: Door, _ context: TLSContext, machineID: String? = nil) async throws -> Connection {
        try await Dialler.dial(
            door.addresses,
            applicationProtocol: "handoff/1",
            context: context,
            expectedMachineID: machineID
        )
    }

    /// A TCP connection that knows nothing of TLS.
    private func knock(_ door: Door) async throws -> Socket {
        try await Dialler.connect(to: door.addresses[0], clock: .system)
    }

    /// Reads until the other end closes; false where it does not in the time given.
    private func isClosed(_ socket: Socket) async throws -> Bool {
        var buffer = [UInt8](repeating: 0, count: 4096)
        while true {
            switch buffer.withUnsafeMutableBytes({ socket.receive(into: $0) }) {
            case .bytes(0), .failed: return true
            case .bytes: continue
            case .wouldBlock: try await socket.wait(until: .readable)
            }
        }
    }

    @Test("100 of 100 refused diallers see the reason")
    func neverLosesTheReason() async throws {
        // No handshake is too late on a machine that has other tests to run.
        let door = try await Door.open(try makeContext(), clock: ManualClock().clock)
        let context = try makeContext(.expired)
        for _ in 0..<100 {
            let connection = try await dial(door, context)
            let error = await failure { _ = try await connection.read() } as? TransportError
            #expect(error?.code == .certificateExpired && error?.refusedBy == .them)
            let refusal = try await door.nextRefusal()
            #expect(refusal.code == .certificateExpired && refusal.refusedBy == .us)
        }
        await door.listener.close()
    }

    @Test("A dialler that has written before it listens sees the reason all the same")
    func keepsTheReasonForEarlyWriters() async throws {
        let door = try await Door.open(try makeContext(), clock: ManualClock().clock)
        let context = try makeContext(.expired)
        for _ in 0..<20 {
            let connection = try await dial(door, context)
            for _ in 0..<4 { try? await connection.write([1, 2, 3]) }
            _ = try await door.nextRefusal()
            for _ in 0..<4 { try? await connection.write([1, 2, 3]) }
            let error = await failure { _ = try await connection.read() } as? TransportError
            #expect(error?.code == .certificateExpired && error?.refusedBy == .them)
        }
        await door.listener.close()
    }

    @Test("A dialler that refuses the listener tells it why")
    func diallerRefuses() async throws {
        let door = try await Door.open(try makeContext(.expired))
        let context = try makeContext()
        let error = await failure { _ = try await dial(door, context) } as? TransportError
        #expect(error?.code == .certificateExpired && error?.refusedBy == .us)
        let refusal = try await door.nextRefusal()
        #expect(refusal.code == .certificateExpired && refusal.refusedBy == .them)
        await door.listener.close()
    }

    @Test("A dialler of another account gets no further than the proof")
    func refusesOtherAccounts() async throws {
        let door = try await Door.open(try makeContext())
        let stranger = try makeContext(of: TestAccount())
        let error = await failure { _ = try await dial(door, stranger) } as? TransportError
        #expect(error?.code == .missingProof && error?.refusedBy == .them)
        #expect(try await door.nextRefusal().code == .missingProof)
        await door.listener.close()
    }

    @Test("Another machine than the expected one is refused")
    func refusesOtherMachine() async throws {
        let context = try makeContext()
        let door = try await Door.open(context)
        let client = try makeContext()
        let error =
            await failure {
                _ = try await dial(door, client, machineID: TestAccount.randomUUID())
            } as? TransportError
        #expect(error?.code == .otherMachine)
        let connection = try await dial(door, client, machineID: context.identity.machineID)
        #expect(connection.peer.machineID == context.identity.machineID)
        await door.listener.close()
    }

    @Test("The first address that answers wins, dead ones and refusals are passed over")
    func racesAddresses() async throws {
        let expected = try makeContext()
        let other = try await Door.open(try makeContext())
        let door = try await Door.open(expected)
        let dead = try #require(SocketAddress(numeric: "127.0.0.1", port: 1))
        let connection = try await Dialler.dial(
            [dead] + other.addresses + door.addresses,
            applicationProtocol: "handoff/1",
            context: try makeContext(),
            expectedMachineID: expected.identity.machineID
        )
        #expect(connection.remoteAddress.port == door.listener.port)
        await other.listener.close()
        await door.listener.close()
    }

    @Test("When all addresses fail, the error that tells most is thrown")
    func throwsTheMostTelling() async throws {
        let door = try await Door.open(try makeContext(.expired))
        let dead = try #require(SocketAddress(numeric: "127.0.0.1", port: 1))
        let context = try makeContext()
        let error =
            await failure {
                _ = try await Dialler.dial(
                    [dead] + door.addresses + [dead],
                    applicationProtocol: "handoff/1",
                    context: context
                )
            } as? TransportError
        #expect(error?.code == .certificateExpired)
        let unreachable =
            await failure {
                _ = try await Dialler.dial([dead], applicationProtocol: "handoff/1", context: context)
            } as? TransportError
        #expect(unreachable?.code == .unreachable && unreachable?.cause?.code == ECONNREFUSED)
        await door.listener.close()
    }

    @Test("A dial to somebody who says nothing can be cancelled")
    func cancelsDials() async throws {
        let silent = try ListeningSocket.open(port: 0)
        let port = try #require(silent.localAddress).port
        let address = try #require(SocketAddress(numeric: "127.0.0.1", port: port))
        let context = try makeContext()
        let dialling = Task {
            _ = try await Dialler.dial([address], applicationProtocol: "handoff/1", context: context)
        }
        try await silent.wait(until: .readable)
        dialling.cancel()
        await #expect(throws: CancellationError.self) { try await dialling.value }
        let cancelled = Task {
            _ = try await Dialler.dial([address], applicationProtocol: "handoff/1", context: context)
        }
        cancelled.cancel()
        await #expect(throws: CancellationError.self) { try await cancelled.value }
    }

    @Test("Who is silent is shown out when its second is over")
    func boundsSilence() async throws {
        let door = try await Door.open(try makeContext())
        let socket = try await knock(door)
        let refusal = try await door.nextRefusal()
        #expect(refusal.code == .timedOut)
        #expect(try await isClosed(socket))
        await door.listener.close()
    }

    @Test("Who drips a hello byte by byte gets no longer")
    func boundsDripping() async throws {
        let door = try await Door.open(try makeContext())
        let socket = try await knock(door)
        let dripping = Task {
            // A record header that announces 512 bytes, which never all come.
            for byte in [22, 3, 1, 2, 0, 1, 0, 1, 252] + [UInt8](repeating: 3, count: 400) {
                guard case .bytes = withUnsafeBytes(of: byte, { socket.send($0) }) else { return }
                try await Task.sleep(for: .milliseconds(20))
            }
        }
        #expect(try await door.nextRefusal().code == .timedOut)
        #expect(try await isClosed(socket))
        dripping.cancel()
        await door.listener.close()
    }

    @Test("Garbage is refused, and the door stays open for the account")
    func refusesGarbage() async throws {
        let door = try await Door.open(try makeContext())
        for garbage in [
            Array("GET / HTTP/1.1\r\n\r\n".utf8), [UInt8](repeating: 0xff, count: 40_000), [22, 3, 1, 0, 1, 1],
        ] {
            let socket = try await knock(door)
            _ = garbage.withUnsafeBytes { socket.send($0) }
            socket.shutDownWriting()
            #expect([.tlsFailure, .tlsVersion, .truncated].contains(try await door.nextRefusal().code))
            #expect(try await isClosed(socket))
        }
        _ = try await door.connect(try makeContext())
        await door.listener.close()
    }

    @Test("A flood of strangers holds 64 places at most, and the account still gets in")
    func boundsStrangers() async throws {
        let door = try await Door.open(try makeContext())
        var sockets: [Socket] = []
        for _ in 0..<80 { sockets.append(try await knock(door)) }
        let connecting = Task { [context = try makeContext()] in try await dial(door, context) }
        var evicted = 0
        var isConnected = false
        while evicted < 16 || !isConnected {
            switch try await door.listener.events.next() {
            case .refused(let refusal) where refusal.error.code == .tooManyConnections: evicted += 1
            case .connection: isConnected = true
            default: break
            }
        }
        _ = try await connecting.value
        #expect(try await isClosed(sockets[0]))
        await door.listener.close()
    }

    @Test("A port in use is an error of its own, and a range goes on to the next")
    func knowsPortsInUse() async throws {
        let context = try makeContext()
        let door = try await Door.open(context)
        let port = door.listener.port
        let error =
            await failure {
                _ = try await Listener.bind(ports: port...port, applicationProtocols: ["handoff/1"], context: context)
            } as? TransportError
        #expect(error?.code == .portInUse)
        #expect(error?.description.contains("\(port)") == true)
        if port < UInt16.max - 10 {
            let next = try await Listener.bind(
                ports: port...(port + 10),
                applicationProtocols: ["handoff/1"],
                context: context
            )
            #expect(next.port > port)
            await next.close()
        }
        await door.listener.close()
    }

    @Test("IPv6 comes in by the same door")
    func takesIPv6() async throws {
        let door = try await Door.open(try makeContext())
        let address = try #require(SocketAddress(numeric: "::1", port: door.listener.port))
        let context = try makeContext()
        async let acceptor = door.nextConnection()
        let connection = try await Dialler.dial([address], applicationProtocol: "handoff-stream/1", context: context)
        #expect(connection.remoteAddress == address)
        #expect(try await acceptor.applicationProtocol == "handoff-stream/1")
        await door.listener.close()
    }

    @Test("After close the events end and nobody is let in")
    func closes() async throws {
        let door = try await Door.open(try makeContext())
        await door.listener.close()
        #expect(try await door.listener.events.next() == nil)
        // The kernel's queue may still take a connection; the end comes in place of a handshake.
        let context = try makeContext()
        let error = await failure { _ = try await dial(door, context) }
        #expect(error is TransportError)
    }

    @Test("A process that runs out of descriptors refuses, and takes connections again when it has some")
    func survivesExhaustion() async {
        await #expect(processExitsWith: .success) {
            var limit = rlimit(rlim_cur: 128, rlim_max: 128)
            setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
            let door = try await Door.open(try makeContext())
            let context = try makeContext()
            let stranger = try Socket(family: AF_INET)  // made while there are descriptors
            var fillers: [CInt] = []
            while true {
                let filler = dup(0)
                if filler < 0 { break }
                fillers.append(filler)
            }
            // None left: it waits in the kernel's queue.
            _ = door.addresses[0].withSockaddr { Glibc.connect(stranger.number, $0, $1) }
            try await stranger.wait(until: .writable)
            // One left, of the sixteen that are reserved: it is refused.
            close(fillers.removeLast())
            try #require(try await door.nextRefusal().code == .tooManyConnections)
            for filler in fillers { close(filler) }
            _ = try await door.connect(context)
        }
    }
}
