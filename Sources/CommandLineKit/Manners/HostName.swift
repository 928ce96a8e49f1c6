import Glibc

/// The machine's name as its user knows it, without a domain.
public func hostName() -> String {
    var buffer = [CChar](repeating: 0, count: Int(HOST_NAME_MAX) + 1)
    guard gethostname(&buffer, buffer.count) == 0 else { return "unknown" }
    let bytes = buffer.prefix { $0 != 0 && $0 != CChar(UInt8(ascii: ".")) }.map { UInt8(bitPattern: $0) }
    return bytes.isEmpty ? "unknown" : String(decoding: bytes, as: UTF8.self)
}
