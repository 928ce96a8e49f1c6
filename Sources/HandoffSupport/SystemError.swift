import Glibc

/// A failed system call: which one, and why.
public struct SystemError: Error, Equatable, CustomStringConvertible {
    /// The call's `errno`.
    public let code: CInt
    /// What was being done, in words that can stand in front of the reason: "connect to 10.0.0.7".
    public let action: String

    /// Records a failure.
    ///
    /// - Parameters:
    ///   - action: What was being done.
    ///   - code: The call's `errno`, read on the line after the call.
    public init(_ action: String, code: CInt) {
        self.action = action
        self.code = code
    }

    /// Two failures are equal when their reason is.
    public static func == (left: SystemError, right: SystemError) -> Bool { left.code == right.code }

    /// What was being done, and why it failed.
    public var description: String { "\(action): \(Self.message(for: code))" }

    /// The C library's text for an error number.
    public static func message(for code: CInt) -> String {
        var buffer = [CChar](repeating: 0, count: 128)
        guard strerror_r(code, &buffer, buffer.count) == 0 else { return "error \(code)" }
        return String(cString: &buffer)
    }
}
