import Foundation
import HandoffModel
import HandoffSupport
import HandoffTestKit
import Testing

/// Python's plistlib is an implementation that shares nothing with ours.
@Suite("Property lists and Python's plistlib")
struct PlistlibTests {
    @Test("plistlib reads what we write, and we read what it writes")
    func bothWays() throws {
        var generator = SeededGenerator(seed: 3)
        let random = (0..<40).map { _ in PropertyListSamples.random(using: &generator) }.map(\.inWholeSeconds)
        let values = PropertyListSamples.corners + random
        let cases = try values.map { try [$0.described, BaseEncoding.hexadecimal(BinaryPropertyList.encode($0))] }
        let answers = try python(Self.script, input: JSONSerialization.data(withJSONObject: cases))
            .split(separator: "\n")
        try #require(answers.count == values.count)
        for (value, answer) in zip(values, answers) {
            let (verdict, hexadecimal) = (answer.prefix { $0 != " " }, answer.drop { $0 != " " }.dropFirst())
            #expect(verdict == "equal", "plistlib reads another value than \(value)")
            let bytes = try #require(BaseEncoding.decodeHexadecimal(hexadecimal))
            #expect(try BinaryPropertyList.decode(bytes) == value)
        }
    }

    /// Reads pairs of a described value and our bytes; says for each whether plistlib reads that value, types
    /// included, and gives plistlib's own bytes.
    private static let script = """
        import datetime, json, plistlib, struct, sys

        def real(bits):
            return struct.unpack('>d', bytes.fromhex(bits))[0]

        def value(described):
            kind, content = described
            if kind == 'string': return bytes.fromhex(content).decode('utf-16-be')
            if kind == 'integer': return int(content)
            if kind == 'real': return real(content)
            if kind == 'boolean': return content == 'true'
            if kind == 'date': return datetime.datetime(2001, 1, 1) + datetime.timedelta(seconds=real(content))
            if kind == 'data': return bytes.fromhex(content)
            if kind == 'array': return [value(element) for element in content]
            return {value(key): value(member) for key, member in content}

        def same(one, other):
            if type(one) is not type(other): return False
            if isinstance(one, float): return struct.pack('>d', one) == struct.pack('>d', other)
            if isinstance(one, list):
                return len(one) == len(other) and all(map(same, one, other))
            if isinstance(one, dict):
                return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
            return one == other

        for described, ours in json.load(sys.stdin):
            expected = value(described)
            verdict = 'equal' if same(plistlib.loads(bytes.fromhex(ours)), expected) else 'different'
            print(verdict, plistlib.dumps(expected, fmt=plistlib.FMT_BINARY).hex())
        """

    /// Runs a script with `input` on its standard input, and returns its standard output.
    private func python(_ script: String, input: Data) throws -> String {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = ["python3", "-c", script]
        let (standardInput, standardOutput) = (Pipe(), Pipe())
        process.standardInput = standardInput
        process.standardOutput = standardOutput
        try process.run()
        // The script reads all of its input before it writes, so neither side waits for the other.
        try standardInput.fileHandleForWriting.write(contentsOf: input)
        try standardInput.fileHandleForWriting.close()
        let output = try standardOutput.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        try #require(process.terminationStatus == 0)
        return String(decoding: output, as: UTF8.self)
    }
}

extension PropertyList {
    /// The value as the script reads it: its type and its content.
    fileprivate var described: [Any] {
        switch self {
        case .string(let text): ["string", Self.hexadecimal(text)]
        case .integer(let number): ["integer", String(number)]
        case .real(let number): ["real", Self.hexadecimal(number)]
        case .boolean(let isTrue): ["boolean", String(isTrue)]
        case .date(let date): ["date", Self.hexadecimal(date.timeIntervalSinceReferenceDate)]
        case .data(let data): ["data", BaseEncoding.hexadecimal(data)]
        case .array(let elements): ["array", elements.map(\.described)]
        case .dictionary(let members):
            ["dictionary", members.map { [PropertyList.string($0.key).described, $0.value.described] }]
        }
    }

    /// The value with dates that Python's microseconds hold exactly.
    fileprivate var inWholeSeconds: PropertyList {
        switch self {
        // Python has no dates before the proleptic year 1, two days after the distant past.
        case .date(let date): .date(Date(timeIntervalSinceReferenceDate: date.timeIntervalSinceReferenceDate.rounded()))
        case .array(let elements): .array(elements.map(\.inWholeSeconds))
        case .dictionary(let members): .dictionary(members.mapValues(\.inWholeSeconds))
        default: self
        }
    }

    private static func hexadecimal(_ number: Double) -> String {
        BaseEncoding.hexadecimal(withUnsafeBytes(of: number.bitPattern.bigEndian) { Array($0) })
    }

    private static func hexadecimal(_ text: String) -> String {
        BaseEncoding.hexadecimal(text.utf16.flatMap { [UInt8($0 >> 8), UInt8($0 & 0xFF)] })
    }
}
