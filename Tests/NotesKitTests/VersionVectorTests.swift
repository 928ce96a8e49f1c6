import Testing

@testable import NotesKit

@Suite("A version vector")
struct VersionVectorTests {
    typealias Case = (left: [String: UInt64], right: [String: UInt64], relation: VersionVector.Relation)

    @Test(
        "says which edits it contains",
        arguments: [
            ([:], [:], .equal),
            (["A": 1], ["A": 1], .equal),
            (["A": 0], [:], .equal),
            (["A": 1], [:], .dominates),
            (["A": 2, "B": 1], ["A": 1, "B": 1], .dominates),
            (["A": 1], ["A": 1, "B": 1], .dominated),
            (["A": 1], ["B": 1], .concurrent),
            (["A": 2, "B": 1], ["A": 1, "B": 2], .concurrent),
            (["A": .max], ["A": .max - 1], .dominates),
        ] as [Case]
    )
    func relations(example: Case) {
        let left = VersionVector(counters: example.left)
        let right = VersionVector(counters: example.right)
        #expect(left.compared(to: right) == example.relation)
    }

    @Test("counts up, and stops at the end instead of trapping")
    func increments() {
        #expect(VersionVector().incremented(for: "A").counters == ["A": 1])
        #expect(VersionVector(counters: ["A": .max]).incremented(for: "A").counters == ["A": .max])
    }

    @Test("merges to the least vector that contains both")
    func merges() {
        let merged = VersionVector(counters: ["A": 2, "B": 1]).merged(with: VersionVector(counters: ["B": 3, "C": 1]))
        #expect(merged.counters == ["A": 2, "B": 3, "C": 1])
    }

    @Test("comes back from the wire as it was")
    func wire() {
        let vector = VersionVector(counters: ["A": 2, "B": 1])
        #expect(VersionVector(wire: vector.wire) == vector)
        #expect(VersionVector(counters: ["A": .max]).wire == ["A": .max])
    }

    @Test(
        "refuses what a peer must not send",
        arguments: [
            ["A": -1], ["": 1], ["two words": 1], ["é": 1], ["A": Int.max],
            [String(repeating: "x", count: VersionVector.maximumKeyBytes + 1): 1],
        ]
    )
    func refuses(wire: [String: Int]) {
        #expect(VersionVector(wire: wire) == nil)
    }

    @Test("refuses more machines than a note may be carried by")
    func refusesTooMany() {
        let wire = Dictionary(uniqueKeysWithValues: (0...VersionVector.maximumEntries).map { ("\($0)", 1) })
        #expect(VersionVector(wire: wire) == nil)
    }

    @Test("of a conflict copy keeps the note's saves apart from the copy's own")
    func inherited() {
        let copy = VersionVector(counters: ["A": 1]).inherited
        let edited = copy.incremented(for: "A")
        let copiedAgain = VersionVector(counters: ["A": 3]).inherited
        #expect(edited.compared(to: copy) == .dominates)
        #expect(copiedAgain.compared(to: edited) == .concurrent)
        #expect(copy.inherited == copy)
    }
}
