import Glibc

/// Where the programs keep their files (XDG Base Directory Specification 0.8).
public struct HandoffPaths: Sendable, Equatable {
    /// The longest path of a Unix socket, in bytes: `sun_path` has 108 with the final zero.
    public static let maximumSocketPathBytes = 107

    /// What the user may want to edit.
    public let configuration: String
    /// What must not be lost: keys and notes.
    public let data: String
    /// What is remembered between runs and may be lost.
    public let state: String
    /// Sockets, as long as the user is logged in.
    public let runtime: String

    /// Decides the places from the environment.
    ///
    /// `HANDOFF_HOME` moves all together. XDG variables that are empty or relative are ignored, as the specification
    /// asks; without `XDG_RUNTIME_DIR`, `run` in the state directory takes its place.
    ///
    /// - Throws: ``CommandFailure`` where `HANDOFF_HOME` is relative, or neither it nor `HOME` is set.
    public init(environment: [String: String]) throws(CommandFailure) {
        if let home = environment["HANDOFF_HOME"], !home.isEmpty {
            guard home.hasPrefix("/") else {
                throw CommandFailure("HANDOFF_HOME is “\(printable(home))”, and has to be a path from the root")
            }
            configuration = home + "/config"
            data = home + "/data"
            state = home + "/state"
            runtime = home + "/run"
            return
        }
        func directory(_ variable: String, orInHome path: String) throws(CommandFailure) -> String {
            if let value = environment[variable], value.hasPrefix("/") { return value + "/handoff" }
            guard let home = environment["HOME"], home.hasPrefix("/") else {
                throw CommandFailure("HOME is not set: set it, or set HANDOFF_HOME to a directory")
            }
            return "\(home)/\(path)/handoff"
        }
        configuration = try directory("XDG_CONFIG_HOME", orInHome: ".config")
        data = try directory("XDG_DATA_HOME", orInHome: ".local/share")
        state = try directory("XDG_STATE_HOME", orInHome: ".local/state")
        let session = environment["XDG_RUNTIME_DIR"].flatMap { $0.hasPrefix("/") ? $0 : nil }
        runtime = session.map { $0 + "/handoff" } ?? state + "/run"
    }

    /// The path of a socket in the runtime directory.
    ///
    /// - Throws: ``CommandFailure`` where it is longer than the kernel takes.
    public func socket(_ name: String) throws(CommandFailure) -> String {
        let path = "\(runtime)/\(name)"
        guard path.utf8.count <= Self.maximumSocketPathBytes else {
            throw CommandFailure(
                "the socket's path has \(path.utf8.count) bytes, and Linux takes \(Self.maximumSocketPathBytes): "
                    + "set XDG_RUNTIME_DIR or HANDOFF_HOME to a shorter path than \(printable(runtime))"
            )
        }
        return path
    }

    /// Makes the runtime directory (0700) where it is missing, and makes sure that it is the user's alone.
    ///
    /// - Throws: ``CommandFailure`` where it cannot be made, is someone else's, or is open to others.
    public func makeRuntimeDirectory() throws(CommandFailure) {
        try Self.makeDirectory(runtime)
        var status = stat()
        guard lstat(runtime, &status) == 0, status.st_mode & S_IFMT == S_IFDIR else {
            throw CommandFailure("\(printable(runtime)) is not a directory: move it away")
        }
        guard status.st_uid == geteuid() else {
            throw CommandFailure("\(printable(runtime)) belongs to another user: set XDG_RUNTIME_DIR to your own")
        }
        guard status.st_mode & 0o077 == 0 else {
            throw CommandFailure("\(printable(runtime)) is open to others: run `chmod 700 \(printable(runtime))`")
        }
    }

    /// Makes a directory (0700), and those above it, where they are missing.
    static func makeDirectory(_ path: String) throws(CommandFailure) {
        guard access(path, F_OK) != 0 else { return }
        if let slash = path.lastIndex(of: "/"), slash != path.startIndex { try makeDirectory(String(path[..<slash])) }
        guard mkdir(path, 0o700) == 0 || errno == EEXIST else {
            let reason = String(cString: strerror(errno))
            throw CommandFailure("cannot make the directory \(printable(path)): \(reason)")
        }
    }
}
