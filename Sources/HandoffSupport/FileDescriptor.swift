import Glibc

/// An open file descriptor with one owner, closed when the owner goes.
public struct FileDescriptor: ~Copyable, Sendable {
    /// The number the kernel knows it by; it is lent, never closed by the borrower.
    public let number: CInt

    /// Takes ownership of an open descriptor.
    public init(owning number: CInt) {
        precondition(number >= 0, "not a file descriptor: \(number)")
        self.number = number
    }

    deinit {
        Glibc.close(number)
    }

    /// Gives the ownership away; the caller closes the descriptor.
    public consuming func take() -> CInt {
        let number = number
        discard self
        return number
    }
}
