import Glibc

/// A file that is to be written with others, as a directory of its own user's.
public struct PrivateFile: Sendable {
    /// Its name in the directory.
    public let name: String
    /// Whether only its user may read it (0600), or others too (0644), as far as they can enter the directory.
    public let isSecret: Bool
    /// What it holds.
    public let bytes: [UInt8]

    /// Names a file.
    public init(name: String, isSecret: Bool, bytes: [UInt8]) {
        self.name = name
        self.isSecret = isSecret
        self.bytes = bytes
    }
}

extension Directory {
    /// What the name of a directory gets at its end while another one takes its place.
    private static let previousSuffix = ".previous"

    /// Writes files as a new directory (0700), which is there as a whole or not at all.
    ///
    /// They are made in a private directory beside it, reach the disk, and get their name in one step. A directory that
    /// is there gets out of the way first and is removed at the end: what a crash in between leaves, ``recover(_:)``
    /// puts right.
    ///
    /// - Parameters:
    ///   - path: The directory; those above it are made (0700) where they are missing.
    ///   - files: What it holds.
    ///   - replaces: Whether a directory that is there is replaced.
    /// - Throws: `SystemError`: `EEXIST` where there is one, and it is not to be replaced.
    public static func write(_ path: String, holding files: [PrivateFile], replaces: Bool = false) throws(SystemError) {
        let parent = containing(path)
        try makePrivate(parent)
        try recover(path)
        let isThere = try FileStatus.of(path) != nil
        guard !isThere || replaces else { throw .taken(path) }
        let staging = try makeTemporary(in: parent)
        do {
            for file in files { try write(file, in: staging) }
            try synchronize(staging)
            if isThere { try rename(path, to: path + previousSuffix) }
            // rename(2) would take the place of an empty directory, and of nothing else.
            try rename(staging, to: path)
            try synchronize(parent)
        } catch {
            try? removeFlat(staging)
            try? recover(path)
            throw error
        }
        if isThere { try removeFlat(path + previousSuffix) }
    }

    /// Gives back its name to a directory that was being replaced when the process ended, or removes it where the
    /// other one had taken its place.
    ///
    /// - Throws: `SystemError`.
    public static func recover(_ path: String) throws(SystemError) {
        guard try FileStatus.of(path + previousSuffix) != nil else { return }
        if try FileStatus.of(path) == nil {
            try rename(path + previousSuffix, to: path)
        } else {
            try removeFlat(path + previousSuffix)
        }
        try synchronize(containing(path))
    }

    /// Makes a directory (0700), and those above it, where they are missing.
    ///
    /// - Throws: `SystemError`.
    public static func makePrivate(_ path: String) throws(SystemError) {
        guard access(path, F_OK) != 0 else { return }
        let parent = containing(path)
        if parent != path { try makePrivate(parent) }
        let code = mkdir(path, 0o700) == 0 ? 0 : errno
        guard code == 0 || code == EEXIST else { throw SystemError("make \(path)", code: code) }
    }

    /// Removes a directory and the files in it; one that holds directories is left.
    ///
    /// - Throws: `SystemError`.
    public static func removeFlat(_ path: String) throws(SystemError) {
        for name in try names(in: path) { try remove("\(path)/\(name)") }
        let code = rmdir(path) == 0 ? 0 : errno
        guard code == 0 || code == ENOENT else { throw SystemError("remove \(path)", code: code) }
    }

    /// The names in a directory, in no particular order; none where it does not exist.
    ///
    /// - Throws: `SystemError`.
    public static func names(in path: String) throws(SystemError) -> [String] {
        guard let directory = opendir(path) else {
            let code = errno
            guard code != ENOENT else { return [] }
            throw SystemError("open \(path)", code: code)
        }
        defer { closedir(directory) }
        var names: [String] = []
        while let entry = readdir(directory) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            if name != ".", name != ".." { names.append(name) }
        }
        return names
    }

    /// Writes a file that is not there yet (O_EXCL), and waits until it is on the disk.
    ///
    /// - Throws: `SystemError`: `EEXIST` where something has its name.
    public static func write(_ file: PrivateFile, in directory: String) throws(SystemError) {
        let path = "\(directory)/\(file.name)"
        let number = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard number >= 0 else {
            let code = errno
            throw SystemError("make \(path)", code: code)
        }
        let descriptor = FileDescriptor(owning: number)
        var written = 0
        while written < file.bytes.count {
            let count = file.bytes[written...].withUnsafeBytes {
                Glibc.write(descriptor.number, $0.baseAddress, $0.count)
            }
            let code = errno
            if count >= 0 {
                written += count
            } else if code != EINTR {
                throw SystemError("write \(path)", code: code)
            }
        }
        // Not by open: the user's mask would take bits away.
        guard fchmod(descriptor.number, file.isSecret ? 0o600 : 0o644) == 0, fsync(descriptor.number) == 0 else {
            let code = errno
            throw SystemError("write \(path)", code: code)
        }
    }

    private static func makeTemporary(in parent: String) throws(SystemError) -> String {
        var template = Array("\(parent)/.making.XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else {
            let code = errno
            throw SystemError("make a directory in \(parent)", code: code)
        }
        return String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}
