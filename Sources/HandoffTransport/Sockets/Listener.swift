import Dispatch
import Glibc
public import HandoffSupport

/// Takes connections from other machines of the account, and keeps strangers at the door.
///
/// Whoever has not shown the proof of the discovery key gets no more than a second, 32 KiB, and one of 64 places; when
/// they are taken, the oldest goes, from the address that holds the most.
public actor Listener {
    /// What happens at a listener.
    public enum Event: Sendable {
        /// A machine of the account has connected; its handshake is over.
        case connection(Connection)
        /// A connection was refused, or broke off before its handshake was over.
        case refused(Refusal)
    }

    /// Who was refused, and why.
    public struct Refusal: Sendable {
        /// Where the connection came from.
        public let remoteAddress: SocketAddress
        /// Why it did not get in.
        public let error: TransportError
    }

    /// The port that it listens on.
    public nonisolated let port: UInt16
    /// What happens, for one consumer; refusals are dropped while 64 events wait.
    public nonisolated let events = BoundedChannel<Event>(capacity: 64)

    /// How many connections without a proof there may be.
    static let largestStrangerCount = 64
    /// How many that were shown out may be on their way before nobody else is let in.
    private static let largestLeavingCount = 16
    /// How many file descriptors are left for the rest of the process.
    static let reservedDescriptors: CInt = 16
    /// How long nothing is accepted while too many that were shown out are still on their way.
    private static let crowdPause = DispatchTimeInterval.milliseconds(2)
    /// How long nothing is accepted after the system has run out of descriptors or memory.
    static let exhaustionPause = DispatchTimeInterval.milliseconds(200)

    private let executor: QueueExecutor
    private let clock: MonotonicClock
    private let applicationProtocols: [String]
    private let source: AcceptSource
    private var context: TLSContext
    private var strangers = StrangerTable(capacity: Listener.largestStrangerCount)
    private var handshakes: [UInt64: (address: SocketAddress, task: Task<Void, Never>)] = [:]
    /// The handshakes that were broken off and have not ended yet.
    private var leaving: Set<UInt64> = []
    /// True where the last connection took one of the descriptors that are left for the rest of the process.
    private var isScarce = false
    private var nextID: UInt64 = 0
    private var isClosed = false

    /// Listens on the first free port of a range, for IPv6 and IPv4, or IPv4 alone where there is no IPv6.
    ///
    /// - Parameters:
    ///   - ports: The ports to try in order; 0...0 for any that is free.
    ///   - applicationProtocols: The ALPN names of the protocols spoken here, the best first.
    ///   - context: Who this end is.
    ///   - clock: What the limits are measured by.
    /// - Throws: `TransportError`: `portInUse` where other programs listen on all of them, `cannotListen` with the
    ///   system's reason else.
    public static func bind(
        ports: ClosedRange<UInt16>,
        applicationProtocols: [String],
        context: TLSContext,
        clock: MonotonicClock = .system
    ) async throws -> Listener {
        for port in ports {
            do {
                let socket = try ListeningSocket.open(port: port)
                let listener = Listener(
                    socket: socket,
                    applicationProtocols: applicationProtocols,
                    context: context,
                    clock: clock
                )
                await listener.start()
                return listener
            } catch  where error.code == EADDRINUSE {
                continue
            } catch {
                throw TransportError(.cannotListen, cause: error)
            }
        }
        let range = ports.count == 1 ? "port \(ports.lowerBound)" : "ports \(ports.lowerBound) to \(ports.upperBound)"
        throw TransportError(.portInUse, detail: range)
    }

    private init(socket: Socket, applicationProtocols: [String], context: TLSContext, clock: MonotonicClock) {
        let executor = QueueExecutor(label: "handoff.listener")
        self.executor = executor
        self.applicationProtocols = applicationProtocols
        self.context = context
        self.clock = clock
        port = socket.localAddress?.port ?? 0
        source = AcceptSource(socket: socket, queue: executor.queue)
    }

    deinit { source.cancel() }

    /// The listener's own queue.
    public nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    /// Uses another identity or discovery key for the connections that come from now on.
    public func use(_ context: TLSContext) {
        self.context = context
    }

    /// Stops listening: handshakes under way are broken off, and `events` ends.
    ///
    /// Connections that were delivered go on.
    public func close() {
        guard !isClosed else { return }
        isClosed = true
        source.cancel()
        for handshake in handshakes.values { handshake.task.cancel() }
        events.finish()
    }

    private func start() {
        source.activate { [weak self] in self?.assumeIsolated { $0.accept() } }
    }

    private func accept() {
        // Bounded, so that a flood does not keep proofs and evictions off the queue; the source fires again.
        for _ in 0..<16 {
            guard let socket = source.socket else { return }
            guard !isCrowded else { return source.pause(for: Self.crowdPause) }
            do {
                admit(try socket.accept())
            } catch {
                switch error.code {
                case EMFILE, ENFILE, ENOBUFS, ENOMEM: return source.pause(for: Self.exhaustionPause)
                case EAGAIN: return
                default: continue  // a connection that died in the queue, accept(2)
                }
            }
        }
    }

    /// True while those that were broken off have to end first: where descriptors are few each of them, so that no more
    /// than one is taken from the rest of the process.
    private var isCrowded: Bool { leaving.count >= (isScarce ? 1 : Self.largestLeavingCount) }

    private func admit(_ socket: Socket) {
        guard let address = socket.remoteAddress else { return }
        isScarce = socket.number >= Self.descriptorLimit - Self.reservedDescriptors
        if isScarce {
            // Whoever comes may be of the account; those at the door have had their chance.
            guard let evicted = strangers.tighten() else {
                return report(TransportError(.tooManyConnections, refusedBy: .us), from: address)
            }
            breakOff(evicted)
        }
        socket.tune()
        nextID += 1
        let id = nextID
        if let evicted = strangers.admit(id, from: address.octets) { breakOff(evicted) }
        let progress = Handshake.Progress(
            onProof: { [weak self] in
                guard let self else { return }
                executor.queue.async { self.assumeIsolated { $0.strangers.remove(id) } }
            },
            onRefusal: { [events] error in
                _ = try? events.offer(.refused(Refusal(remoteAddress: address, error: error)))
            }
        )
        let role = TLSEngine.Role.server(applicationProtocols: applicationProtocols)
        // It ends within the handshake's limits; an eviction or `close` cancels it before.
        let task = Task(executorPreference: QuietExecutor.shared) { [context, clock, events] in
            let connection = try? await Handshake.run(
                on: socket,
                context: context,
                role: role,
                clock: clock,
                progress: progress
            )
            if let connection, (try? await events.send(.connection(connection))) == nil { connection.abort() }
            await self.finish(id)
        }
        handshakes[id] = (address, task)
    }

    private func breakOff(_ id: UInt64) {
        guard let handshake = handshakes[id] else { return }
        leaving.insert(id)
        handshake.task.cancel()
        report(TransportError(.tooManyConnections, refusedBy: .us), from: handshake.address)
    }

    private func finish(_ id: UInt64) {
        strangers.remove(id)
        handshakes[id] = nil
        leaving.remove(id)
    }

    private func report(_ error: TransportError, from address: SocketAddress) {
        _ = try? events.offer(.refused(Refusal(remoteAddress: address, error: error)))
    }

    private static var descriptorLimit: CInt {
        var limit = rlimit()
        guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return 1024 }
        return CInt(clamping: limit.rlim_cur)
    }
}
