/// The code of an invitation: 80 random bits that a person carries from one machine to another.
///
/// It is written in Crockford's base32, in four groups of four, and read as people type: case, hyphens and blanks do not
/// matter, `O` is a zero, and `I` and `L` are a one. Whoever listens to an enrolment can test codes offline, so that its
/// length is what protects it. Its descriptions do not tell it.
public struct InvitationCode: Hashable, Sendable, CustomStringConvertible, CustomDebugStringConvertible,
    CustomReflectable
{
    /// How many bytes a code has.
    public static let byteCount = 10
    /// How many characters it is written in, hyphens not counted.
    public static let digitCount = 16

    private static let alphabet = Array("0123456789ABCDEFGHJKMNPQRSTVWXYZ".utf8)
    private static let bitsPerDigit = 5

    /// The code, ``byteCount`` bytes.
    public let bytes: [UInt8]

    /// Takes the bytes of a code.
    ///
    /// - Returns: Nil where they are not exactly ``byteCount``.
    public init?(bytes: [UInt8]) {
        guard bytes.count == Self.byteCount else { return nil }
        self.bytes = bytes
    }

    /// Reads what a person has typed.
    ///
    /// - Throws: ``EnrolmentError/Code/malformedCode``, with what is wrong, but never with what was typed.
    public init(typed text: String) throws(EnrolmentError) {
        var bytes: [UInt8] = []
        var count = 0
        var buffer = 0
        var bits = 0
        for scalar in text.unicodeScalars where !Self.isIgnored(scalar) {
            count += 1
            guard let digit = Self.value(of: scalar) else {
                throw EnrolmentError(
                    .malformedCode,
                    "character \(count) of the code is none that codes have: they are letters and digits, without U"
                )
            }
            guard count <= Self.digitCount else { continue }
            buffer = buffer << Self.bitsPerDigit | digit
            bits += Self.bitsPerDigit
            if bits >= 8 {
                bits -= 8
                bytes.append(UInt8(buffer >> bits))
                buffer &= (1 << bits) - 1
            }
        }
        guard count == Self.digitCount else {
            throw EnrolmentError(.malformedCode, "a code has \(Self.digitCount) letters and digits, not \(count)")
        }
        self.bytes = bytes
    }

    /// The code as it is shown to a person: `XXXX-XXXX-XXXX-XXXX`.
    public var text: String {
        var digits: [UInt8] = []
        var buffer = 0
        var bits = 0
        for byte in bytes {
            buffer = buffer << 8 | Int(byte)
            bits += 8
            while bits >= Self.bitsPerDigit {
                bits -= Self.bitsPerDigit
                if digits.count % 5 == 4 { digits.append(UInt8(ascii: "-")) }
                digits.append(Self.alphabet[buffer >> bits])
                buffer &= (1 << bits) - 1
            }
        }
        return String(decoding: digits, as: UTF8.self)
    }

    /// What stands for it in logs and error texts.
    public var description: String { "(a code)" }
    /// What stands for it in a debugger's output.
    public var debugDescription: String { description }
    /// Nothing, so that `dump` does not tell it either.
    public var customMirror: Mirror { Mirror(self, children: []) }

    private static func isIgnored(_ scalar: Unicode.Scalar) -> Bool {
        // U+2010 to U+2015: what word processors and chat programs make of a hyphen.
        scalar == "-" || scalar.properties.isWhitespace || (0x2010...0x2015).contains(scalar.value)
    }

    private static func value(of scalar: Unicode.Scalar) -> Int? {
        guard scalar.isASCII else { return nil }
        let letter = UInt8(scalar.value)
        let upper = (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(letter) ? letter - 32 : letter
        switch upper {
        case UInt8(ascii: "O"): return 0
        case UInt8(ascii: "I"), UInt8(ascii: "L"): return 1
        default: return alphabet.firstIndex(of: upper)
        }
    }
}
