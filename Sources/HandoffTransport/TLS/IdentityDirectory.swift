import Glibc
import HandoffSupport

/// The directory that holds a machine's identity: reads its files, and insists that nobody else can.
package struct IdentityDirectory {
    /// Certificates and keys are about 1 KiB; whatever is larger is something else.
    package static let largestFile = 64 * 1024

    package let path: String

    /// Opens the directory.
    ///
    /// - Throws: `IdentityError` where it is missing or open to others.
    package init(path: String) throws {
        self.path = path
        var status = stat()
        guard stat(path, &status) == 0 else { throw Self.missing("", in: path, code: errno) }
        guard status.st_mode & S_IFMT == S_IFDIR else {
            throw IdentityError(.malformed, "\(path) is not a directory")
        }
        try Self.check(status, path: path, mode: "700")
    }

    /// Reads a file.
    ///
    /// - Parameters:
    ///   - name: The file's name.
    ///   - isSecret: True where nobody else may be able to read it.
    ///   - limit: The most that it may hold, in bytes.
    /// - Throws: `IdentityError`.
    package func read(_ name: String, isSecret: Bool, atMost limit: Int = largestFile) throws -> [UInt8] {
        let file = "\(path)/\(name)"
        let number = open(file, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK)
        guard number >= 0 else { throw Self.missing(name, in: path, code: errno) }
        let descriptor = FileDescriptor(owning: number)
        var status = stat()
        guard fstat(descriptor.number, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            throw IdentityError(.malformed, "\(file) is not a regular file")
        }
        if isSecret { try Self.check(status, path: file, mode: "600") }
        guard status.st_size <= limit else { throw IdentityError(.malformed, "\(file) is too large") }

        var bytes = [UInt8](repeating: 0, count: limit)
        var count = 0
        while count < bytes.count {
            let result = bytes.withUnsafeMutableBytes { buffer in
                Glibc.read(descriptor.number, buffer.baseAddress?.advanced(by: count), buffer.count - count)
            }
            if result == 0 { break }
            if result < 0 {
                let code = errno
                if code == EINTR { continue }
                let cause = SystemError("read \(file)", code: code)
                throw IdentityError(.unreadable, cause.description, cause: cause)
            }
            count += result
        }
        return Array(bytes.prefix(count))
    }

    /// Reads the account's discovery key.
    ///
    /// - Throws: `IdentityError`.
    package func readDiscoveryKey() throws -> [UInt8] {
        let digits = String(decoding: try read("discovery.key", isSecret: true), as: UTF8.self)
        guard digits.hasSuffix("\n"), let key = BaseEncoding.decodeHexadecimal(digits.dropLast()), key.count == 32
        else {
            throw IdentityError(.malformed, "\(path)/discovery.key is not 64 hexadecimal digits and a newline")
        }
        return key
    }

    /// Reads which account the directory belongs to: SHA-256 of the key in `account.pem`, 32 bytes.
    ///
    /// - Throws: `IdentityError`.
    package func readAccountHash() throws -> [UInt8] {
        guard let account = Certificate(pem: try read(AccountAuthority.File.certificate, isSecret: false)) else {
            throw IdentityError(.malformed, "\(path)/\(AccountAuthority.File.certificate) is not a PEM certificate")
        }
        return account.publicKeyHash
    }

    private static func check(_ status: stat, path: String, mode: String) throws {
        guard status.st_uid == geteuid() else {
            throw IdentityError(.permissions, "\(path) belongs to another user; run: chown \(geteuid()) '\(path)'")
        }
        guard status.st_mode & 0o077 == 0 else {
            throw IdentityError(.permissions, "\(path) is open to other users; run: chmod \(mode) '\(path)'")
        }
    }

    private static func missing(_ name: String, in path: String, code: CInt) -> IdentityError {
        let file = name.isEmpty ? path : "\(path)/\(name)"
        let cause = SystemError("open \(file)", code: code)
        guard code == ENOENT else { return IdentityError(.unreadable, cause.description, cause: cause) }
        return IdentityError(
            .noIdentity,
            "this machine has no identity: \(file) does not exist; run: handoff account create, or handoff account join",
            cause: cause
        )
    }
}
