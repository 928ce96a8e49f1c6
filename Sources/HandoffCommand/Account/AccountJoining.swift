import CommandLineKit
import FoundationEssentials
import Handoff

/// `handoff account join`: takes a code, and makes this machine one of the account.
struct AccountJoining {
    private let store: AccountStore
    private let codeFile: String?
    private let place: NetworkPlace?

    init(store: AccountStore, _ arguments: Arguments) throws(CommandFailure) {
        self.store = store
        codeFile = arguments["code-file"]
        place = try arguments["peer"].map { text throws(CommandFailure) in
            try namedPlace(text, port: Invitation.ports.lowerBound)
        }
    }

    func run() async throws -> ExitCode {
        let typed = try SecretInput.line(
            prompt: "Code shown by `handoff account invite` on the other machine: ",
            isShown: true,
            file: codeFile
        )
        let code = try InvitationCode(typed: typed)
        let joined = try await join(with: code)
        try StandardOutput.write(Self.text(of: joined))
        StandardError.write("compare the fingerprint with the one over there\n")
        for machine in joined.replaced {
            StandardError.write(
                "this replaces machine \(machine.machineID) of the account “\(printable(machine.accountName))”, which peers "
                    + "still trust until \(machine.notAfter.ISO8601Format()); on the machine that holds that account's key, "
                    + "run: handoff account revoke \(machine.machineID)\n"
            )
        }
        return .done
    }

    private func join(with code: InvitationCode) async throws -> JoinedAccount {
        guard let place else {
            StandardError.write("looking for the invitation\n")
            return try await store.join(
                code: code,
                host: hostName(),
                discovery: AvahiDiscovery(type: Invitation.serviceType)
            )
        }
        let addresses = await place.addresses(ports: Invitation.ports)
        guard !addresses.isEmpty else { throw CommandFailure("the host \(printable(place.host)) is not known") }
        return try await store.join(code: code, host: hostName(), addresses: addresses)
    }

    private static func text(of joined: JoinedAccount) -> String {
        let first = joined.machines[0]
        return """
            joined the account “\(printable(first.accountName))” through \(printable(joined.inviter))
            machine      \(first.machineID)
            teams        \(joined.machines.map(\.team).joined(separator: ", "))
            fingerprint  \(first.fingerprint)

            """
    }
}
