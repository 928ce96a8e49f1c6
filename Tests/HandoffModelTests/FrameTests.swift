import HandoffModel
import HandoffTestKit
import Testing

@Suite("Frames")
struct FrameTests {
    @Test("A frame is its length in 4 big-endian bytes and its body")
    func form() throws {
        #expect(try Frame.encode([7, 8, 9]) == [0, 0, 0, 3, 7, 8, 9])
        #expect(try Frame.encode(Array(repeating: 1, count: 0x012345)).prefix(5) == [0, 1, 0x23, 0x45, 1])
    }

    @Test("Bodies of 1 byte to 1 MiB come through", arguments: [1, 2, 255, 256, 65_536, 1 << 20])
    func lengths(length: Int) throws {
        let body = (0..<length).map { UInt8(truncatingIfNeeded: $0) }
        var decoder = FrameDecoder()
        decoder.append(try Frame.encode(body))
        #expect(try decoder.next() == body)
        #expect(try decoder.next() == nil)
    }

    @Test("An empty body and one over 1 MiB are not written")
    func writerLimits() {
        #expect(refusal { _ = try Frame.encode([]) } == .empty)
        #expect(refusal { _ = try Frame.encode(Array(repeating: 0, count: (1 << 20) + 1)) } == .tooLong)
    }

    @Test(
        "A length that is not allowed is refused before its body comes, and for ever",
        arguments: [
            (0, .empty), (0x10_0001, .tooLong), (0x7FFF_FFFF, .tooLong), (0x8000_0000, .tooLong),
            (0xFFFF_FFFF, .tooLong),
        ] as [(UInt32, FrameError.Code)]
    )
    func wrongLengths(length: UInt32, code: FrameError.Code) throws {
        var decoder = FrameDecoder()
        decoder.append(try Frame.encode([1]))
        decoder.append(withUnsafeBytes(of: length.bigEndian) { Array($0) })
        #expect(try decoder.next() == [1])
        let error = try #require(throws: FrameError.self) { try decoder.next() }
        #expect(error.code == code)
        #expect(error.description.contains("frame"))
        decoder.append(try Frame.encode([2]))
        #expect(throws: error) { try decoder.next() }
    }

    @Test("Frames may come byte by byte")
    func byteByByte() throws {
        let bodies: [[UInt8]] = [[1], [2, 3], Array(repeating: 4, count: 300)]
        var decoder = FrameDecoder()
        var taken: [[UInt8]] = []
        for byte in try bodies.flatMap({ try Frame.encode($0) }) {
            decoder.append([byte])
            while let body = try decoder.next() { taken.append(body) }
        }
        #expect(taken == bodies)
    }

    @Test("Several frames may come in one piece, with a part of the next")
    func onePiece() throws {
        let bodies = (1...200).map { Array(repeating: UInt8($0), count: $0) }
        let bytes = try bodies.flatMap { try Frame.encode($0) }
        var decoder = FrameDecoder()
        decoder.append(Array(bytes.dropLast(100)))
        for body in bodies.dropLast() { #expect(try decoder.next() == body) }
        #expect(try decoder.next() == nil)
        decoder.append(Array(bytes.suffix(100)))
        #expect(try decoder.next() == bodies.last)
        #expect(try decoder.next() == nil)
    }

    @Test("Pieces of any size, taken now or later, give the same frames")
    func randomPieces() throws {
        var generator = SeededGenerator(seed: 4)
        let bodies = (0..<300).map { _ in
            (0..<Int.random(in: 1...200, using: &generator)).map { UInt8(truncatingIfNeeded: $0) }
        }
        var rest = try bodies.flatMap { try Frame.encode($0) }[...]
        var decoder = FrameDecoder()
        var taken: [[UInt8]] = []
        while !rest.isEmpty {
            let piece = rest.prefix(Int.random(in: 0...500, using: &generator))
            rest = rest.dropFirst(piece.count)
            decoder.append(Array(piece))
            for _ in 0..<Int.random(in: 0...4, using: &generator) {
                if let body = try decoder.next() { taken.append(body) }
            }
        }
        while let body = try decoder.next() { taken.append(body) }
        #expect(taken == bodies)
    }

    @Test("Nothing comes before a length is whole")
    func nothingYet() throws {
        var decoder = FrameDecoder()
        #expect(try decoder.next() == nil)
        decoder.append([])
        decoder.append([0, 0, 0])
        #expect(try decoder.next() == nil)
    }
}

private func refusal(of body: () throws -> Void) -> FrameError.Code? {
    do {
        try body()
        return nil
    } catch {
        return (error as? FrameError)?.code
    }
}
