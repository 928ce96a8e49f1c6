public import Glibc
import HandoffSupport

/// Runs `body` with a new directory that only this user can enter, and removes it afterwards.
///
/// - Throws: `SystemError`, or what `body` throws.
public func withTemporaryDirectory<Result>(_ body: (_ path: String) throws -> Result) throws -> Result {
    let parent = getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp"
    var template = Array("\(parent)/handoff-test-XXXXXX".utf8CString)
    guard mkdtemp(&template) != nil else { throw SystemError("make a temporary directory", code: errno) }
    let path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    defer { removeTree(path) }
    return try body(path)
}

/// Writes a file with exactly the mode given; an older one is replaced.
///
/// - Throws: `SystemError`.
public func writeFile(_ path: String, mode: mode_t, _ bytes: [UInt8]) throws {
    let number = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, mode)
    guard number >= 0 else { throw SystemError("open \(path)", code: errno) }
    let descriptor = FileDescriptor(owning: number)
    fchmod(descriptor.number, mode)
    guard write(descriptor.number, bytes, bytes.count) == bytes.count else {
        throw SystemError("write \(path)", code: errno)
    }
}

private func removeTree(_ path: String) {
    if let directory = opendir(path) {
        while let entry = readdir(directory) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            if name != ".", name != ".." { removeTree("\(path)/\(name)") }
        }
        closedir(directory)
    }
    remove(path)
}
