import HandoffModel
import HandoffSupport
import HandoffTransport

/// The messages of one enrolment, over its connection.
struct EnrolmentChannel {
    private let connection: EnrolmentConnection
    private var decoder = FrameDecoder()

    init(_ connection: EnrolmentConnection) {
        self.connection = connection
    }

    func send(_ message: EnrolmentMessage) async throws {
        try await connection.send(message.frame())
    }

    /// Waits for the next message.
    ///
    /// - Throws: ``EnrolmentError`` where something else comes, or nothing; `CancellationError`.
    mutating func receive() async throws -> EnrolmentMessage {
        var received = 0
        do {
            while true {
                if let body = try decoder.next() {
                    guard let message = EnrolmentMessage(body: body) else { throw EnrolmentError.violation }
                    return message
                }
                guard received <= EnrolmentMessage.maximumBody, let bytes = try await connection.receive() else {
                    throw EnrolmentError.violation
                }
                received += bytes.count
                decoder.append(bytes)
            }
        } catch is FrameError {
            throw EnrolmentError.violation
        } catch let failure as EnrolmentFailure {
            throw EnrolmentError(failure)
        }
    }

    func close() async { await connection.close() }
}

extension EnrolmentError {
    static let violation = EnrolmentError(
        .protocolViolation,
        "the other machine does not keep to the protocol of enrolments: install the same version on both"
    )

    init(_ failure: EnrolmentFailure) {
        switch failure {
        case .wrongCode:
            self.init(.wrongCode, "the code is not that of the invitation: look at it again, and join again")
        case .unknownSalt:
            self.init(.wrongCode, "the machine there invites by another way: leave --peer out, or use it")
        case .unreachable(let reason): self.init(.unreachable, reason)
        case .failed(let reason): self.init(.protocolViolation, "the connection failed: \(reason)")
        }
    }
}
