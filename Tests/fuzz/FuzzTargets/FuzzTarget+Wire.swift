import FoundationEssentials
import HandoffModel

extension FuzzTarget {
    func checkFrames(_ bytes: [UInt8]) throws(BrokenRule) {
        let whole = Self.frames(in: bytes, cutEvery: max(bytes.count, 1))
        // A few bytes at a time for what is short only: pieces are not to be counted by the square.
        let pieces = Self.frames(in: bytes, cutEvery: bytes.count > 4096 ? 1000 : 3)
        try require(whole == pieces, "frames do not depend on how their bytes were cut")
        var written: [UInt8] = []
        for body in whole {
            guard let frame = try? Frame.encode(body) else { throw BrokenRule("what was a frame can be one again") }
            written += frame
        }
        try require(bytes.starts(with: written), "frames are written as they were read")
    }

    private static func frames(in bytes: [UInt8], cutEvery step: Int) -> [[UInt8]] {
        var decoder = FrameDecoder()
        var bodies: [[UInt8]] = []
        for start in stride(from: 0, to: bytes.count, by: step) {
            decoder.append(Array(bytes[start..<min(start + step, bytes.count)]))
            while let body = try? decoder.next() { bodies.append(body) }
        }
        return bodies
    }

    func checkPropertyList(_ bytes: [UInt8]) throws(BrokenRule) {
        guard let value = try? BinaryPropertyList.decode(bytes) else { return }
        var size = Size()
        size.add(value, depth: 0)
        try require(size.values <= BinaryPropertyList.maximumValues, "values are bounded")
        try require(size.depth <= BinaryPropertyList.maximumDepth, "depth is bounded")
        try require(size.content <= BinaryPropertyList.maximumContent, "content is bounded")
        try checkRoundTrip(value, write: BinaryPropertyList.encode, read: BinaryPropertyList.decode)
    }

    /// What a list holds, counted by other means than the reader's.
    private struct Size {
        var values = 0
        var content = 0
        var depth = 0

        mutating func add(_ value: PropertyList, depth: Int) {
            values += 1
            switch value {
            case .boolean, .integer, .real, .date: break
            case .string(let text): content += text.utf16.count
            case .data(let data): content += data.count
            case .array(let elements):
                self.depth = max(self.depth, depth + 1)
                for element in elements { add(element, depth: depth + 1) }
            case .dictionary(let members):
                self.depth = max(self.depth, depth + 1)
                for (key, member) in members {
                    add(.string(key), depth: depth + 1)
                    add(member, depth: depth + 1)
                }
            }
        }
    }

    func checkMessage(_ bytes: [UInt8]) throws(BrokenRule) {
        guard let received = ReceivedMessage(body: bytes) else { return }
        switch received {
        case .known(let message):
            try checkRoundTrip(message) {
                try $0.encoded()
            } read: { body in
                guard case .known(let message) = ReceivedMessage(body: body) else { return nil }
                return message
            }
            if case .activity(_, let payload) = message { _ = try? payload.check() }
        case .unknown(let request, let kind):
            // It is answered with the kind, so that the answer has to be one that can be sent.
            let answer = try? Message.unsupported(request: request, kind: kind).encoded()
            try require(answer != nil, "an unknown kind can be answered")
        }
    }

    func checkStream(_ bytes: [UInt8]) throws(BrokenRule) {
        if let length = StreamFrame.length(Array(bytes.prefix(4))) {
            try require((1...StreamFrame.maximumBody).contains(length), "a stream's frames are bounded")
        }
        guard let message = StreamFrame.decode(bytes) else { return }
        if let token = StreamFrame.token(in: message) {
            try require(StreamFrame.token(in: StreamFrame.opening(token)) == token, "a token stays the same")
        }
        if let failure = StreamFrame.failure(in: message) {
            let again = StreamFrame.failure(in: StreamFrame.receipt(failure))
            try require(
                again?.code == failure.code && again?.message == failure.message && again?.key == failure.key,
                "a receipt stays the same"
            )
        }
    }

    func checkEnrolment(_ bytes: [UInt8]) throws(BrokenRule) {
        guard let message = EnrolmentMessage(body: bytes) else { return }
        try checkRoundTrip(message) {
            Array(try $0.frame().dropFirst(4))
        } read: {
            EnrolmentMessage(body: $0)
        }
    }

    /// Checks that what was read can be written and read, is then the same, and is written as before.
    ///
    /// Both are checked: a number that is none does not equal itself, and errors equal by their code.
    private func checkRoundTrip<Value: Equatable>(
        _ value: Value,
        write: (Value) throws -> [UInt8],
        read: ([UInt8]) throws -> Value?
    ) throws(BrokenRule) {
        guard let written = try? write(value) else { throw BrokenRule("what was read can be written") }
        guard let again = try? read(written) else { throw BrokenRule("what was written can be read") }
        let holdsNoNumber = (try? BinaryPropertyList.decode(written)).map(Self.holdsNoNumber) ?? false
        try require(again == value || holdsNoNumber, "what was read stays the same")
        try require((try? write(again)) == written, "what was read is written as before")
    }

    private static func holdsNoNumber(_ value: PropertyList) -> Bool {
        switch value {
        case .real(let number): number.isNaN
        case .array(let elements): elements.contains(where: holdsNoNumber)
        case .dictionary(let members): members.values.contains(where: holdsNoNumber)
        default: false
        }
    }
}
