import Glibc

/// Something secret that a person types or a file holds, so that it stands in no argument list.
public enum SecretInput {
    /// The longest secret, in bytes.
    private static let limit = 4096

    /// Whether standard input is a person at a terminal.
    public static var isTyped: Bool { isatty(STDIN_FILENO) == 1 }

    /// Reads one line from a file, or from standard input, where a person at a terminal is asked for it.
    ///
    /// - Parameters:
    ///   - prompt: What a person is asked, on stderr.
    ///   - isShown: Whether what is typed appears on the terminal.
    ///   - file: The file; nil for standard input.
    /// - Returns: The line, without its end.
    /// - Throws: ``CommandFailure`` where it cannot be read, there is none, or it is empty.
    public static func line(prompt: String, isShown: Bool, file: String?) throws(CommandFailure) -> String {
        if let file {
            let descriptor = open(file, O_RDONLY | O_CLOEXEC)
            guard descriptor >= 0 else {
                let reason = String(cString: strerror(errno))
                throw CommandFailure("cannot read \(printable(file)): \(reason)")
            }
            defer { close(descriptor) }
            return try line(from: descriptor, named: printable(file))
        }
        guard isTyped else { return try line(from: STDIN_FILENO, named: "standard input") }
        StandardError.write(prompt)
        if isShown { return try line(from: STDIN_FILENO, named: "the terminal") }
        return try withoutEcho { () throws(CommandFailure) in try line(from: STDIN_FILENO, named: "the terminal") }
    }

    /// Reads byte by byte: what follows the line is somebody else's.
    private static func line(from descriptor: CInt, named name: String) throws(CommandFailure) -> String {
        var bytes: [UInt8] = []
        while bytes.count < limit {
            var byte: UInt8 = 0
            let count = read(descriptor, &byte, 1)
            let code = errno
            if count < 0 {
                guard code == EINTR else {
                    throw CommandFailure("cannot read \(name): \(String(cString: strerror(code)))")
                }
                continue
            }
            if count == 0 || byte == UInt8(ascii: "\n") { break }
            bytes.append(byte)
        }
        if bytes.last == UInt8(ascii: "\r") { bytes.removeLast() }
        guard !bytes.isEmpty else { throw CommandFailure("\(name) has no line to read") }
        return String(decoding: bytes, as: UTF8.self)
    }

    private static func withoutEcho(_ body: () throws(CommandFailure) -> String) throws(CommandFailure) -> String {
        var settings = termios()
        guard tcgetattr(STDIN_FILENO, &settings) == 0 else { return try body() }
        let before = settings
        settings.c_lflag &= ~tcflag_t(ECHO)
        tcsetattr(STDIN_FILENO, TCSAFLUSH, &settings)
        defer {
            var before = before
            tcsetattr(STDIN_FILENO, TCSAFLUSH, &before)
            StandardError.write("\n")
        }
        return try body()
    }
}
