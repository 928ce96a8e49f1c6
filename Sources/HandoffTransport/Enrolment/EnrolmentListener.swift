import Glibc
package import HandoffSupport

/// Where machines that join connect to: takes connections, and hands over those whose ClientHello has come.
///
/// It judges none, so that its owner decides when the next code is looked at. A stranger that says nothing is gone after
/// a second, and the oldest of 64 where there are more, from the busiest address first.
package final class EnrolmentListener: Sendable {
    /// The ports that are tried (docs/protocol.md, "Enrolment"): those after the peers' own.
    package static let ports: ClosedRange<UInt16> = 24290...24294
    private static let capacity = 64
    /// How long nothing is accepted after the system has run out of descriptors or memory.
    private static let exhaustionPause = Duration.milliseconds(200)

    /// The port that it listens on.
    package let port: UInt16
    /// The connections to judge, for one consumer; the listener waits while as many as it has places are there.
    package let connections = BoundedChannel<EnrolmentConnection>(capacity: EnrolmentListener.capacity)

    private let socket: Socket
    private let keys: [PreSharedKey]
    private let clock: MonotonicClock
    private let strangers = LockedBox((table: StrangerTable(capacity: capacity), tasks: [UInt64: Task<Void, Never>]()))

    /// Listens on the first free port of a range.
    ///
    /// - Parameters:
    ///   - ports: The ports to try in order; 0...0 for any that is free.
    ///   - keys: The code's keys, one a salt.
    ///   - clock: What the limits are measured by.
    /// - Throws: `TransportError`: `portInUse`, or `cannotListen`.
    package init(ports: ClosedRange<UInt16>, keys: [PreSharedKey], clock: MonotonicClock) throws(TransportError) {
        self.keys = keys
        self.clock = clock
        for port in ports {
            do {
                socket = try ListeningSocket.open(port: port)
                self.port = socket.localAddress?.port ?? port
                return
            } catch  where error.code == EADDRINUSE {
                continue
            } catch {
                throw TransportError(.cannotListen, cause: error)
            }
        }
        throw TransportError(.portInUse, detail: "ports \(ports.lowerBound) to \(ports.upperBound)")
    }

    /// Takes connections until the task is cancelled.
    ///
    /// - Throws: `CancellationError`; `SystemError` where the socket fails.
    package func run() async throws {
        defer {
            connections.finish()
            for task in strangers.withLock({ Array($0.tasks.values) }) { task.cancel() }
        }
        var nextID: UInt64 = 0
        while true {
            try await socket.wait(until: .readable)
            let accepted: Socket
            do {
                accepted = try socket.accept()
            } catch {
                switch error.code {
                case EMFILE, ENFILE, ENOBUFS, ENOMEM: try await clock.sleep(for: Self.exhaustionPause)
                default: break  // a connection that died in the queue, accept(2)
                }
                continue
            }
            guard let address = accepted.remoteAddress else { continue }
            accepted.tune()
            nextID += 1
            admit(accepted, from: address, as: nextID)
        }
    }

    private func admit(_ socket: Socket, from address: SocketAddress, as id: UInt64) {
        let connection = EnrolmentConnection(
            socket: socket,
            engine: EnrolmentEngine(invitingWith: keys),
            remoteAddress: address,
            clock: clock
        )
        strangers.withLock { strangers in
            if let evicted = strangers.table.admit(id, from: address.octets) {
                strangers.tasks.removeValue(forKey: evicted)?.cancel()
            }
            // It ends within the limit of a ClientHello, or when a place is free; an eviction or the end of `run`
            // cancels it before.
            strangers.tasks[id] = Task(executorPreference: QuietExecutor.shared) { [connections] in
                if (try? await connection.awaitHello()) != nil { try? await connections.send(connection) }
                self.strangers.withLock { strangers in
                    strangers.table.remove(id)
                    strangers.tasks[id] = nil
                }
            }
        }
    }
}
