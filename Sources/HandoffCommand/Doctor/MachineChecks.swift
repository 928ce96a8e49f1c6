import CommandLineKit
import FoundationEssentials
import Glibc
import Handoff

/// What can be said of this machine without asking anybody.
struct MachineChecks {
    let store: AccountStore
    let now: Date

    /// The clock, as far as it is certainly wrong: it cannot be before this program was built.
    func clock() -> Finding {
        var status = stat()
        guard stat("/proc/self/exe", &status) == 0 else { return .ok("clock", Self.text(now)) }
        let built = Date(timeIntervalSince1970: TimeInterval(status.st_mtim.tv_sec))
        guard now >= built else {
            return .error(
                "clock",
                "it shows \(Self.text(now)), which is before this program was installed (\(Self.text(built)))",
                do: "set it: sudo timedatectl set-ntp true"
            )
        }
        return .ok("clock", Self.text(now))
    }

    /// The identities' files, modes and dates; the account's where it is here.
    func identities() -> [Finding] {
        let account: AccountSummary
        do {
            account = try store.summary()
        } catch {
            return [Self.finding(for: error)]
        }
        guard !account.machines.isEmpty else {
            return [.error("identity", "there is an account, and no identity", do: "run: handoff account create")]
        }
        // What cannot be read keeps every app from starting, and is told as an error.
        let members: [AccountMember]
        do {
            members = try store.members(host: hostName())
        } catch {
            return [Self.finding(for: error)]
        }
        return account.machines.map { machine in
            guard members.first(where: { $0.machineID == machine.machineID })?.revoked == nil else {
                return .error(
                    "identity",
                    "machine \(machine.machineID) of the account “\(machine.accountName)” was revoked",
                    do: "enrol this machine again: handoff account join"
                )
            }
            do {
                _ = try Identity.load(directory: machine.directory)
            } catch {
                return Self.finding(for: error)
            }
            let message =
                "machine \(machine.machineID) of the account “\(machine.accountName)”, team \(machine.team), "
                + "valid until \(Self.text(machine.notAfter))"
            guard machine.isEnding(at: now) else { return .ok("identity", message) }
            return .warning("identity", message, do: MachineSummary.renewalAdvice)
        }
    }

    /// The interfaces that mDNS can use.
    func interfaces() -> [Finding] {
        let names = Self.multicastInterfaces()
        guard !names.isEmpty else {
            return [
                .error(
                    "interfaces",
                    "none is up, has an address and can multicast",
                    do: "connect this machine to the network: ip link; ip address"
                )
            ]
        }
        return names.sorted { $0.key < $1.key }.map { name, canMulticast in
            canMulticast
                ? .ok("interfaces", "\(name) is up and can multicast")
                : .warning(
                    "interfaces",
                    "\(name) is up and cannot multicast",
                    do: "sudo ip link set \(name) multicast on"
                )
        }
    }

    /// The ports that a peer listens on.
    func ports() -> [Finding] {
        let range = HandoffConfiguration.defaultPorts
        let free = range.filter(Self.isFree)
        guard !free.isEmpty else {
            return [
                .error(
                    "ports",
                    "other programs have all of \(range.lowerBound) to \(range.upperBound)",
                    do: "see which: ss -ltnp | grep 2428"
                )
            ]
        }
        let taken = range.count - free.count
        return [.ok("ports", "\(free.count) of \(range.lowerBound) to \(range.upperBound) are free, \(taken) in use")]
    }

    private static func finding(for error: any Error) -> Finding {
        if let error = error as? AccountError, error.code == .noAccount {
            return .error(
                "identity",
                "this machine is of no account",
                do: "run handoff account create here, or handoff account invite on a machine of one and join here"
            )
        }
        // What is to be done stands behind a semicolon, where the error knows it.
        let parts = "\(error)".split(separator: "; ", maxSplits: 1)
        guard parts.count == 2 else {
            return .error("identity", "\(error)", do: "enrol this machine again: handoff account join")
        }
        return .error("identity", String(parts[0]), do: String(parts[1]))
    }

    static func text(_ date: Date) -> String { date.ISO8601Format() }

    /// The interfaces that are up and have an address, without the loopback; and whether each can multicast.
    private static func multicastInterfaces() -> [String: Bool] {
        var list: UnsafeMutablePointer<ifaddrs>?
        guard getifaddrs(&list) == 0 else { return [:] }
        defer { freeifaddrs(list) }
        var result: [String: Bool] = [:]
        var entry = list
        while let current = entry?.pointee {
            entry = current.ifa_next
            let flags = CInt(truncatingIfNeeded: current.ifa_flags)
            guard let address = current.ifa_addr, [AF_INET, AF_INET6].contains(CInt(address.pointee.sa_family)),
                flags & CInt(IFF_UP) != 0, flags & CInt(IFF_LOOPBACK) == 0
            else { continue }
            result[String(cString: current.ifa_name)] = flags & CInt(IFF_MULTICAST) != 0
        }
        return result
    }

    private static func isFree(_ port: UInt16) -> Bool {
        let socket = Glibc.socket(AF_INET, CInt(SOCK_STREAM.rawValue), 0)
        guard socket >= 0, let address = SocketAddress(numeric: "0.0.0.0", port: port) else { return false }
        defer { close(socket) }
        return address.withSockaddr { bind(socket, $0, $1) } == 0
    }

    /// Whether an address is one of this machine's.
    static func isOwn(_ address: SocketAddress) -> Bool {
        let socket = Glibc.socket(address.family, CInt(SOCK_STREAM.rawValue), 0)
        guard socket >= 0 else { return false }
        defer { close(socket) }
        var here = address
        here.port = 0
        return here.withSockaddr { bind(socket, $0, $1) } == 0
    }
}
