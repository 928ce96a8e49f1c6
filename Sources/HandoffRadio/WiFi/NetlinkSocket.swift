import CNetlink
import Glibc
import HandoffSupport

/// A socket to the kernel, for questions that it answers at once; a call waits, at most a second for each datagram.
struct NetlinkSocket: ~Copyable {
    /// What one answer may have at most; a kernel with 1,000 neighbours sends 100 KiB.
    static let maximumAnswer = 1 << 20
    private static let datagramSize = 32 * 1024
    private static let answerLimit: CInt = 1000  // milliseconds

    private let descriptor: FileDescriptor
    private var sequence: UInt32 = 0

    /// Opens a socket.
    ///
    /// - Parameter family: `NETLINK_ROUTE` or `NETLINK_GENERIC`.
    /// - Throws: `SystemError`.
    init(_ family: CInt) throws(SystemError) {
        let number = socket(AF_NETLINK, CInt(SOCK_RAW.rawValue) | CInt(SOCK_CLOEXEC.rawValue), family)
        guard number >= 0 else { throw SystemError("ask the kernel", code: errno) }
        let descriptor = FileDescriptor(owning: number)
        // Connected to the kernel, which is 0: nobody else can send us anything.
        var kernel = sockaddr_nl()
        kernel.nl_family = sa_family_t(AF_NETLINK)
        let code = withUnsafePointer(to: &kernel) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(number, $0, socklen_t(MemoryLayout<sockaddr_nl>.size)) == 0 ? 0 : errno
            }
        }
        guard code == 0 else { throw SystemError("ask the kernel", code: code) }
        self.descriptor = descriptor
    }

    /// Asks for one thing, or with `NLM_F_DUMP` for all of a kind.
    ///
    /// - Returns: The messages of the answer.
    /// - Throws: `SystemError` with the kernel's reason, or `EAGAIN` where it said nothing.
    mutating func ask(type: UInt16, flags: CInt, payload: [UInt8]) throws(SystemError) -> [NetlinkMessage] {
        sequence += 1
        let isDump = flags & NLM_F_DUMP != 0
        let request = NetlinkMessage.request(
            type: type,
            flags: isDump ? flags : flags | NLM_F_ACK,
            sequence: sequence,
            payload: payload
        )
        guard send(descriptor.number, request, request.count, CInt(MSG_NOSIGNAL)) == request.count else {
            throw SystemError("ask the kernel", code: errno)
        }
        var answer: [NetlinkMessage] = []
        var size = 0
        while size <= Self.maximumAnswer {
            var buffer = [UInt8](repeating: 0, count: Self.datagramSize)
            var readiness = pollfd(fd: descriptor.number, events: Int16(POLLIN), revents: 0)
            _ = poll(&readiness, 1, Self.answerLimit)
            let count = recv(descriptor.number, &buffer, buffer.count, CInt(MSG_DONTWAIT))
            guard count > 0 else { throw SystemError("ask the kernel", code: count < 0 ? errno : EPROTO) }
            size += count
            for message in NetlinkMessage.all(in: buffer[..<count]) where message.sequence == sequence {
                switch CInt(message.type) {
                case NLMSG_DONE: return answer
                case NLMSG_ERROR:
                    let code: CInt = message.payload.number() ?? -EPROTO
                    guard code == 0 else { throw SystemError("ask the kernel", code: code < 0 ? 0 &- code : EPROTO) }
                    return answer
                default: answer.append(message)
                }
            }
        }
        throw SystemError("ask the kernel", code: EMSGSIZE)
    }
}
