import Foundation
import HandoffSupport

/// Looks for what must not be seen, in every form in which it might be.
struct Traces {
    /// What to look for, by its name.
    private let needles: [(name: String, bytes: [UInt8])]

    /// Takes what must not be seen: texts, and bytes.
    ///
    /// Each has to have 8 bytes at least, so that it does not come by chance.
    init(texts: [String], bytes: [[UInt8]] = []) {
        let forms =
            texts.flatMap { text in
                [
                    (text, Array(text.utf8)),
                    ("\(text) in UTF-16", text.utf16.flatMap { [UInt8($0 >> 8), UInt8($0 & 0xFF)] }),
                ]
            } + bytes.map { (BaseEncoding.hexadecimal($0), $0) }
        precondition(forms.allSatisfy { $0.1.count >= 8 }, "what is short comes by chance")
        needles = forms.flatMap { name, bytes in
            [(name, bytes), ("\(name) in hex", Array(BaseEncoding.hexadecimal(bytes).utf8))]
                + (0..<3).map {
                    ("\(name) in base64", Self.encoded(bytes, behind: $0, bits: 6, BaseEncoding.base64URL))
                }
                + (0..<5).map { ("\(name) in base32", Self.encoded(bytes, behind: $0, bits: 5, BaseEncoding.base32)) }
        }.map { ($0.0, Self.folded($0.1)) }
    }

    /// What of it is in these bytes.
    func found(in bytes: [UInt8]) -> Set<String> {
        let text = Data(Self.folded(bytes))
        return Set(needles.filter { text.range(of: Data($0.bytes)) != nil }.map(\.name))
    }

    /// The digits of bytes in the midst of others, which depend on no other than those bytes.
    private static func encoded(
        _ bytes: [UInt8],
        behind count: Int,
        bits: Int,
        _ encode: ([UInt8]) -> String
    ) -> [UInt8] {
        let digits = Array(encode([UInt8](repeating: 0, count: count) + bytes).utf8)
        return Array(digits[(count * 8 + bits - 1) / bits..<(count + bytes.count) * 8 / bits])
    }

    /// In lower case, and with one alphabet for both kinds of base64.
    private static func folded(_ bytes: [UInt8]) -> [UInt8] {
        bytes.map { byte in
            switch byte {
            case UInt8(ascii: "A")...UInt8(ascii: "Z"): byte + 32
            case UInt8(ascii: "+"): UInt8(ascii: "-")
            case UInt8(ascii: "/"): UInt8(ascii: "_")
            default: byte
            }
        }
    }
}

/// A capture of all packets of a host.
struct Capture {
    private let command: RunningCommand
    private let file: String

    init(on host: String, in lab: Lab) async throws {
        file = "\(lab.directory)/\(host).packets"
        let script = ["/usr/bin/python3", "-B", "Tests/interop/capture.py", "eth0", file]
        command = try lab.launch(["Tests/lan/lab", "exec", host] + script)
        try await command.line(holding: "capturing")
    }

    /// All packets so far.
    func packets() throws -> [[UInt8]] {
        var rest = try Array(Data(contentsOf: URL(fileURLWithPath: file)))[...]
        var packets: [[UInt8]] = []
        while rest.count >= 4 {
            let length = rest.prefix(4).reduce(0) { $0 << 8 | Int($1) }
            guard rest.count >= 4 + length else { break }
            packets.append(Array(rest.dropFirst(4).prefix(length)))
            rest = rest.dropFirst(4 + length)
        }
        return packets
    }

    func end() { command.interrupt() }
}
