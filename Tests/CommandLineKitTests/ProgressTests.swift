import Testing

@testable import CommandLineKit

@Suite("Progress")
struct ProgressTests {
    @Test(
        "is told in two or three digits and a unit",
        arguments: [
            (0, "0 B"), (1, "1 B"), (999, "999 B"), (1_000, "1.0 kB"), (9_949, "9.9 kB"), (9_950, "10 kB"),
            (16_384, "16 kB"), (999_499, "999 kB"), (999_500, "1.0 MB"), (1_073_741_824, "1.1 GB"),
            (5_368_709_120, "5.4 GB"), (Int64.max, "9.2 EB"), (-1, "-1 B"),
        ] as [(Int64, String)]
    )
    func bytes(bytes: Int64, text: String) {
        #expect(byteText(bytes) == text)
    }

    @Test(
        "is told in two units of time",
        arguments: [
            (0, "0 s"), (59, "59 s"), (60, "1 min 0 s"), (125, "2 min 5 s"), (3_599, "59 min 59 s"),
            (12_000, "3 h 20 min"), (-5, "0 s"),
        ]
    )
    func durations(seconds: Int, text: String) {
        #expect(durationText(.seconds(seconds)) == text)
    }

    /// 100 MB of 400 MB, at 50 MB/s.
    private func makeProgress(label: String = "photo.jpg") -> ByteProgress {
        var progress = ByteProgress(label, total: 400_000_000, at: .seconds(10))
        progress.advance(to: 50_000_000, at: .seconds(11))
        progress.advance(to: 100_000_000, at: .seconds(12))
        return progress
    }

    @Test("says how much, how fast and how long")
    func line() {
        #expect(makeProgress().line(width: nil) == "photo.jpg  25 %  100 MB of 400 MB  50 MB/s  6 s left")
    }

    @Test("leaves out what matters less where there is little room, and never takes more")
    func widths() {
        let progress = makeProgress(label: "a very long name of a file, 日本語.jpg")
        #expect(progress.line(width: 90).contains("[#####---------------]"))
        #expect(progress.line(width: 60).contains("100 MB of 400 MB  50 MB/s  6 s left"))
        #expect(progress.line(width: 34).hasSuffix("…  25 %  6 s left"))
        #expect(progress.line(width: 12) == "a ver…  25 %")
        for width in 1...120 { #expect(displayWidth(progress.line(width: width)) <= width, "\(width)") }
    }

    @Test("shows a peer's word as text only")
    func hostileLabel() {
        #expect(makeProgress(label: "a\r\u{1B}[2Jb").line(width: nil).hasPrefix("a\\r\\u{1B}[2Jb  25 %"))
    }

    @Test("forgets the speed of long ago, and what was there before it began")
    func speed() {
        var progress = ByteProgress("a", total: 1_000_000, completed: 500_000, at: .zero)
        #expect(progress.bytesPerSecond == nil)
        progress.advance(to: 501_000, at: .milliseconds(100))
        #expect(progress.timeLeft == nil)
        for second in 1...20 { progress.advance(to: 500_000 + Int64(second) * 1_000, at: .seconds(second)) }
        #expect(progress.bytesPerSecond == 1_000)
        for second in 21...30 { progress.advance(to: progress.completed + 10_000, at: .seconds(second)) }
        #expect(progress.bytesPerSecond == 10_000)
        #expect(progress.timeLeft == .seconds(38))
    }

    @Test(
        "is not over before it is",
        arguments: [(0, 0, 100), (999, 1_000, 99), (1_000, 1_000, 100), (0, 7, 0), (2_000, 1_000, 100)]
    )
    func percent(completed: Int64, total: Int64, percent: Int) {
        var progress = ByteProgress("a", total: total, at: .zero)
        progress.advance(to: completed, at: .seconds(1))
        #expect(progress.percent == percent)
    }

    /// What a display writes at each tenth of a second and at the end, which may be nothing.
    private func texts(_ medium: ProgressDisplay.Medium, tenths: ClosedRange<Int>) -> [String] {
        let time = Time()
        var display = ProgressDisplay(medium, now: { time.now })
        var texts = tenths.map { tenth in
            time.now = .milliseconds(100 * tenth)
            return display.output("a\n", stage: "copying", completed: Int64(tenth) * 1_000, total: 1_000_000)
        }
        texts.append(display.ending())
        return texts
    }

    private final class Time: @unchecked Sendable {  // one test's, on one thread
        var now = Duration.zero
    }

    @Test("is drawn anew on a terminal, ten times a second, and is gone at the end")
    func redrawn() {
        let texts = texts(.redrawn(width: 79), tenths: 0...10)
        #expect(texts.prefix(3) == ["", "", ""])
        #expect(texts[3...10].allSatisfy { $0.hasPrefix("\r\u{1B}[Kcopying a\\n  ") && !$0.contains("\n") })
        #expect(texts[11] == "\r\u{1B}[K")
    }

    @Test("is a line every five seconds elsewhere, and one at the end")
    func lines() {
        let texts = texts(.lines, tenths: 0...120)
        #expect(texts.indices.filter { !texts[$0].isEmpty } == [50, 100, 121])
        #expect(texts[50] == "copying a\\n  5 %  50 kB of 1.0 MB  10 kB/s  1 min 35 s left\n")
    }

    @Test("is not shown at all of what is done in a moment")
    func short() {
        #expect(texts(.redrawn(width: 79), tenths: 0...2).joined() == "")
        #expect(texts(.lines, tenths: 0...49).joined() == "")
    }

    @Test("is JSON for programs, one object a line, with the name as it is")
    func events() {
        let texts = texts(.events, tenths: 0...10)
        let expected = #"{"completed":5000,"event":"progress","name":"a\n","stage":"copying","total":1000000}"# + "\n"
        #expect(texts[5] == expected)
        #expect(texts.filter { !$0.isEmpty }.count == 3)
    }

    @Test("begins anew with the next work")
    func next() {
        let time = Time()
        var display = ProgressDisplay(.lines, now: { time.now })
        _ = display.output("a", stage: "copying", completed: 0, total: 10)
        time.now = .seconds(6)
        #expect(display.output("a", stage: "copying", completed: 5, total: 10).hasPrefix("copying a  50 %"))
        let text = display.output("b", stage: "copying", completed: 0, total: 10)
        #expect(text.hasPrefix("copying a") && !text.contains("copying b"))
    }

    @Test("is drawn where lines can be, whatever is said about colours")
    func medium() {
        func medium(_ environment: [String: String], isTerminal: Bool = true) -> ProgressDisplay.Medium {
            .on(Terminal(isTerminal: isTerminal, columns: 80, environment: environment))
        }
        #expect(medium([:]) == .redrawn(width: 79))
        #expect(medium(["NO_COLOR": "1"]) == .redrawn(width: 79))
        #expect(medium(["TERM": "dumb"]) == .lines)
        #expect(medium([:], isTerminal: false) == .lines)
    }
}
