import Foundation
import Testing

/// Runs the built `notes` on data of its own, with no peer.
final class NotesCommand: Sendable {
    struct Result {
        let code: Int32
        let bytes: Data
        let complaint: String

        var output: String { String(decoding: bytes, as: UTF8.self) }
    }

    let home: String

    init() throws {
        home = FileManager.default.temporaryDirectory.path + "/notes-" + UUID().uuidString
        try FileManager.default.createDirectory(atPath: home, withIntermediateDirectories: true)
    }

    deinit {
        try? FileManager.default.removeItem(atPath: home)
    }

    /// The directory of the built programs, which the tests are built into, too.
    private static let programs = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
        .deletingLastPathComponent().path

    /// Runs `notes` with arguments.
    func callAsFunction(
        _ arguments: String...,
        editor: String? = nil,
        input: Data = Data(),
        environment: [String: String] = [:]
    ) throws -> Result {
        try run(Self.programs + "/notes", arguments, editor: editor, input: input, environment: environment)
    }

    /// Runs a script that calls `notes`.
    func shell(_ script: String) throws -> Result {
        try run("/bin/sh", ["-c", script], editor: nil, input: Data(), environment: [:])
    }

    private func run(
        _ program: String,
        _ arguments: [String],
        editor: String?,
        input: Data,
        environment: [String: String]
    ) throws -> Result {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: program)
        process.arguments = arguments
        process.environment = ["HANDOFF_HOME": home, "PATH": Self.programs + ":/usr/bin:/bin", "EDITOR": editor ?? ""]
            .merging(environment) { $1 }
        // Files, since a pipe would have to be emptied while it is filled.
        let stem = "\(home)/\(UUID().uuidString)"
        try input.write(to: URL(fileURLWithPath: stem + ".in"))
        process.standardInput = try FileHandle(forReadingFrom: URL(fileURLWithPath: stem + ".in"))
        let output = Pipe()
        process.standardOutput = output
        try Data().write(to: URL(fileURLWithPath: stem + ".err"))
        process.standardError = try FileHandle(forWritingTo: URL(fileURLWithPath: stem + ".err"))
        try process.run()
        // Ends when the last process ends that has the pipe: an editor that outlives `notes`, too.
        let bytes = try output.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        return Result(
            code: process.terminationReason == .exit ? process.terminationStatus : -process.terminationStatus,
            bytes: bytes,
            complaint: try String(contentsOfFile: stem + ".err", encoding: .utf8)
        )
    }
}
