import Foundation

/// What a Python peer has to be announced with.
struct Announcement: Decodable {
    let service: String
    let txt: [String]
}

/// A Python peer that offers a note.
struct PythonPeer {
    static let port = 24289

    let command: RunningCommand
    let announcement: Announcement
}

extension Lab {
    /// Starts a program of Tests/interop on a host, with its identity between the verb and the other arguments.
    ///
    /// It is Debian's Python, which has Debian's zeroconf; -B, so that nothing is written beside the programs.
    func startPython(
        _ host: String,
        _ program: String,
        _ verb: String,
        then arguments: [String]
    ) throws -> RunningCommand {
        let python = ["/usr/bin/python3", "-B", "Tests/interop/\(program)", verb, identity(of: host)]
        return try launch(["Tests/lan/lab", "exec", host] + python + arguments)
    }

    func startPython(
        _ host: String,
        _ program: String,
        _ verb: String,
        then arguments: String...
    ) throws -> RunningCommand {
        try startPython(host, program, verb, then: arguments)
    }

    /// Lets Python make an instance name and a TXT record.
    func makeAnnouncement(_ host: String, _ versions: String = "1") async throws -> Announcement {
        let options = ["--versions", versions]
        let outcome = try await startPython(host, "handoff_peer.py", "announcement", then: options).outcome()
        return try JSONDecoder().decode(Announcement.self, from: Data(outcome.output.utf8))
    }

    /// Announces a service through a host's Avahi until the lab is taken down.
    func publish(_ host: String, _ service: String, port: Int, _ txt: [String]) throws {
        let service = [service, "_handoff._tcp", String(port)] + txt
        _ = try launch(["Tests/lan/lab", "exec", host, "avahi-publish", "-s"] + service)
    }

    /// Starts a Python peer that offers a note and is not announced yet.
    func startPythonPeer(
        _ host: String,
        title: String,
        content: String,
        options: [String] = [],
        announcedAs announcement: Announcement? = nil
    ) async throws -> PythonPeer {
        let note = ["--title", title, "--content", content]
        return try await startPythonPeer(host, "handoff_peer.py", serving: note + options, announcedAs: announcement)
    }

    /// Starts a Python program that serves something and is not announced yet.
    func startPythonPeer(
        _ host: String,
        _ program: String,
        serving arguments: [String],
        announcedAs announcement: Announcement? = nil
    ) async throws -> PythonPeer {
        let announcement = if let announcement { announcement } else { try await makeAnnouncement(host) }
        let options = [String(PythonPeer.port), "--service", announcement.service]
        let command = try startPython(host, program, "serve", then: options + arguments)
        try await command.line(holding: "listening")
        return PythonPeer(command: command, announcement: announcement)
    }

    /// Announces a Python peer through its host's Avahi.
    func publish(_ host: String, _ python: PythonPeer) throws {
        try publish(host, python.announcement.service, port: PythonPeer.port, python.announcement.txt)
    }
}
