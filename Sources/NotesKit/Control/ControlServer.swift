import FoundationEssentials
import Glibc
import Handoff

/// The socket through which commands talk to the running peer, one peer a socket.
struct ControlServer {
    /// So many commands may be connected at once; an editor stays connected as long as it is open.
    private static let maximumConnections = 64

    private let listener: LocalSocket
    private let lock: FileDescriptorBox
    private let service: NotesService

    /// Takes the socket.
    ///
    /// - Throws: ``ControlFailure`` where another peer has it; `SystemError`.
    init(path: String, service: NotesService) throws {
        lock = try Self.lock(path + ".lock")
        listener = try LocalSocket.listen(at: path)
        self.service = service
    }

    /// Serves commands until the task is cancelled.
    func run() async throws {
        try await withThrowingDiscardingTaskGroup { group in
            let open = LockedBox(0)
            while true {
                let socket = try await listener.accept()
                guard open.withLock({ $0 < Self.maximumConnections }) else { continue }
                open.withLock { $0 += 1 }
                group.addTask {
                    await serve(socket)
                    open.withLock { $0 -= 1 }
                }
            }
        }
    }

    private func serve(_ socket: LocalSocket) async {
        let connection = UUID()
        do {
            while let line = try await socket.readLine() {
                var reply = ControlReply.failed(
                    message: "the running peer does not know this request: restart it after an update"
                )
                if let request = try? JSONDecoder().decode(ControlRequest.self, from: Data(line)) {
                    let steps = BoundedChannel<ProgressReport>(capacity: 1)
                    async let told: Void = Self.tell(steps, to: socket)
                    reply = await service.answer(request, on: connection) { _ = try? steps.offer($0) }
                    steps.finish()
                    await told
                }
                try await socket.writeLine(Array(JSONEncoder().encode(reply)))
            }
        } catch {
            // The command is gone, or we stop: either way nobody is left to be told.
        }
        await service.disconnected(connection)
    }

    /// Tells a command how far its work is; what it does not take in time is left out.
    private static func tell(_ steps: BoundedChannel<ProgressReport>, to socket: LocalSocket) async {
        while let step = try? await steps.next() {
            guard let line = try? JSONEncoder().encode(ControlReply.progress(step)) else { continue }
            try? await socket.writeLine(Array(line))
        }
    }

    /// Takes the lock that the one running peer holds; the kernel lets go of it when the process ends, however it does.
    private static func lock(_ path: String) throws -> FileDescriptorBox {
        let number = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard number >= 0 else { throw SystemError("open \(path)", code: errno) }
        let descriptor = FileDescriptorBox(FileDescriptor(owning: number))
        guard flock(number, LOCK_EX | LOCK_NB) == 0 else {
            let code = errno
            guard code == EWOULDBLOCK else { throw SystemError("lock \(path)", code: code) }
            throw ControlFailure("a notes peer is running here already (notes status shows it)")
        }
        return descriptor
    }
}

/// A descriptor that is held open by a value that can be copied.
private final class FileDescriptorBox: Sendable {
    private let descriptor: FileDescriptor

    init(_ descriptor: consuming FileDescriptor) { self.descriptor = descriptor }
}
