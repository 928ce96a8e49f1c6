import CommandLineKit
import Handoff

/// `handoff account leave`, `backup` and `restore`.
enum AccountKeeping {
    static let all = [leave, backup, restore]

    private static let passphraseFile = Option.value(
        "passphrase-file",
        "FILE",
        "Read the passphrase from this file; else it is asked for, or read from standard input",
        completion: .file
    )

    private static let leave = Verb(
        "account leave",
        "Remove this machine's identities",
        discussion: """
            Peers that run here have to be started again before it shows. Other machines still trust whoever has a copy \
            of what was removed, until its time is over or it is revoked on the machine with the account's key.
            """,
        options: [.flag("give-up-key", "Remove the account's key as well, which is gone without a backup")],
        examples: [Example("handoff account leave", "Make this machine one of no account")]
    ) { arguments in
        let machines = try AccountVerbs.store().leave(givesUpKey: arguments.has("give-up-key"))
        for machine in machines {
            try StandardOutput.write(
                "left: machine \(machine.machineID) of the account “\(printable(machine.accountName))”\n"
            )
        }
        // Without the key there is nobody any more who could revoke.
        for id in Set(machines.map(\.machineID)).sorted() where !arguments.has("give-up-key") {
            StandardError.write(
                "so that no copy of its keys is of use, run on the machine with the account's key: handoff account revoke \(id)\n"
            )
        }
        return .done
    }

    private static let backup = Verb(
        "account backup",
        "Write the account's keys to a file, under a passphrase",
        discussion: """
            The file is enough to invite machines and to take over the account, so choose a passphrase that nobody \
            guesses. Its blocks are PKCS#8 with scrypt, which OpenSSL itself reads.
            """,
        positionals: [.required("FILE", "The file, which must not be there yet", completion: .file)],
        options: [passphraseFile],
        examples: [Example("handoff account backup /media/stick/account.pem", "Save the account to a stick")]
    ) { arguments in
        let passphrase = try passphrase(arguments, isNew: true)
        try AccountVerbs.store().backup(to: arguments.required("FILE"), passphrase: passphrase)
        StandardError.write("saved; without the passphrase the file is worth nothing\n")
        return .done
    }

    private static let restore = Verb(
        "account restore",
        "Put the account's keys back from a backup",
        discussion: "Where this machine has no identity yet, `handoff account create` makes it afterwards.",
        positionals: [.required("FILE", "The file that `account backup` wrote", completion: .file)],
        options: [passphraseFile],
        examples: [
            Example("handoff account restore /media/stick/account.pem", "Make this machine the one that invites")
        ]
    ) { arguments in
        let passphrase = try passphrase(arguments, isNew: false)
        let account = try AccountVerbs.store().restore(from: arguments.required("FILE"), passphrase: passphrase)
        try StandardOutput.write(AccountListing(account).text())
        return .done
    }

    private static func passphrase(_ arguments: Arguments, isNew: Bool) throws(CommandFailure) -> String {
        let file = arguments["passphrase-file"]
        let passphrase = try SecretInput.line(prompt: "Passphrase: ", isShown: false, file: file)
        // Who types it unseen may mistype it, and would find out when it is too late.
        if isNew, file == nil, SecretInput.isTyped {
            let again = try SecretInput.line(prompt: "Passphrase again: ", isShown: false, file: nil)
            guard again == passphrase else {
                throw CommandFailure("the two passphrases are not the same: nothing was written")
            }
        }
        return passphrase
    }
}
