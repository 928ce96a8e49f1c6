import Glibc

/// The editor that a user has chosen.
public struct Editor: Sendable, Hashable {
    /// What the shell is told to run; the file is added to it.
    public let command: String

    /// Takes a command as it is.
    init(command: String) {
        self.command = command
    }

    /// Finds the user's editor.
    ///
    /// - Parameter environment: `VISUAL` and `EDITOR` are looked at, in this order; then for the first of Debian's
    ///   `editor`, `nano` and `vi` in `PATH`.
    /// - Returns: The editor; nil where there is none.
    public init?(environment: [String: String]) {
        let chosen = ["VISUAL", "EDITOR"].compactMap { environment[$0] }.first { !$0.isEmpty }
        let directories = environment["PATH", default: ""].split(separator: ":")
        let usual = ["editor", "nano", "vi"].first { name in
            directories.contains { access("\($0)/\(name)", X_OK) == 0 }
        }
        guard let command = chosen ?? usual else { return nil }
        self.command = command
    }

    /// How an editor ended.
    public enum End: Sendable, Hashable, CustomStringConvertible {
        /// By itself, with this status.
        case exit(status: CInt)
        /// By a signal.
        case signal(CInt)

        /// Reads what wait(2) gives.
        init(waitStatus: CInt) {
            let signal = waitStatus & 0x7F
            self = signal == 0 ? .exit(status: (waitStatus >> 8) & 0xFF) : .signal(signal)
        }

        /// What comes after "the editor".
        public var description: String {
            switch self {
            case .exit(let status): "ended with status \(status)"
            case .signal(let number): "was ended by signal \(number)"
            }
        }
    }
}
