/// What the kernel knows of a file; two that are equal are of one file that was not changed in between.
public struct FileStatus: Sendable, Hashable {
    /// The file system.
    public let device: UInt64
    /// The file in its file system.
    public let inode: UInt64
    /// The length in bytes.
    public let size: Int64
    /// When the content was last changed, since 1970.
    public let modified: Duration
    /// When content, name or mode were last changed, since 1970; unlike ``modified``, no program can set it back.
    public let changed: Duration
    /// How many names it has.
    public let links: Int
    /// Whether it is a file with content, not a directory, pipe, device, socket or link.
    public let isRegular: Bool
    /// Whether it belongs to the user that this process runs for.
    public let isOwn: Bool

    /// Whether both are of the same file, changed or not.
    public func isSameFile(as other: FileStatus) -> Bool { device == other.device && inode == other.inode }
}
