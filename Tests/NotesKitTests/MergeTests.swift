import FoundationEssentials
import HandoffTestKit
import Testing

@testable import NotesKit

@Suite("Merging an arriving note")
struct MergeTests {
    private func merge(_ local: Note?, _ incoming: Note) -> MergeOutcome {
        NotesKit.merge(local: local, incoming: incoming, hash: testHash)
    }

    @Test("adds what is not here")
    func adds() throws {
        let note = try makeNote("a", ["A": 1])
        #expect(merge(nil, note) == .added(note))
    }

    @Test("takes a version that contains ours")
    func fastForwards() throws {
        let newer = try makeNote("b", ["A": 2])
        #expect(try merge(makeNote("a", ["A": 1]), newer) == .fastForwarded(newer))
        let removal = try makeTombstone(["A": 2])
        #expect(try merge(makeNote("a", ["A": 1]), removal) == .fastForwarded(removal))
    }

    @Test("ignores what we have or had")
    func ignores() throws {
        let local = try makeNote("b", ["A": 2])
        #expect(merge(local, local) == .ignored(.same))
        #expect(try merge(local, makeNote("a", ["A": 1])) == .ignored(.older))
        #expect(try merge(makeTombstone(["A": 2]), makeNote("a", ["A": 1])) == .ignored(.deletedHere))
    }

    @Test("joins concurrent versions of the same text")
    func sameText() throws {
        let outcome = try merge(makeNote("a", ["A": 1]), makeNote("a", ["B": 1]))
        #expect(try outcome == .merged(makeNote("a", ["A": 1, "B": 1])))
    }

    @Test("brings a removed note back for an edit that the removal had not seen")
    func editAgainstRemoval() throws {
        let later = try makeNote("b", ["A": 3])
        #expect(try merge(makeTombstone(["A": 2]), later) == .broughtBack(later))
        let both: [String: UInt64] = ["A": 2, "B": 1]
        let concurrent = try merge(makeTombstone(["A": 2]), makeNote("b", ["A": 1, "B": 1]))
        #expect(try concurrent == .broughtBack(makeNote("b", both)))
        let reversed = try merge(makeNote("b", ["A": 1, "B": 1]), makeTombstone(["A": 2]))
        #expect(try reversed == .merged(makeNote("b", both)))
    }

    @Test("keeps both texts of a conflict, the same way on both machines", arguments: [["B": 1], ["A": 1]])
    func conflict(otherVersion: [String: UInt64]) throws {
        let one = try makeNote("one", ["A": 1])
        let two = try makeNote("two", otherVersion)
        let here = merge(one, two)
        #expect(here == merge(two, one))
        guard case .conflict(let winner, let copy) = here else {
            Issue.record("expected a conflict, got \(here)")
            return
        }
        let larger = one.contentHash.lexicographicallyPrecedes(two.contentHash) ? two : one
        #expect(winner.content == larger.content)
        #expect(winner.id == testID)
        #expect(winner.version == one.version.merged(with: two.version))
        #expect(Set([winner.content, copy.content]) == ["one", "two"])
        #expect(copy.title == "T (conflict copy)")
        #expect(copy.id != testID)
        #expect(copy.id.uuid.6 >> 4 == 8)
        #expect(copy.id.uuid.8 >> 6 == 0b10)
    }

    @Test("tells apart texts that look the same but have different bytes")
    func canonicalEquivalence() throws {
        let outcome = try merge(makeNote("caf\u{E9}", ["A": 1]), makeNote("cafe\u{301}", ["B": 1]))
        guard case .conflict = outcome else {
            Issue.record("expected a conflict, got \(outcome)")
            return
        }
    }

    @Test("keeps the title of a conflict copy within its limit")
    func longTitle() throws {
        let title = String(repeating: "é", count: NoteText.maximumTitleBytes / 2)
        let copy = try makeNote("x", ["A": 1], title: title).conflictCopy(hash: testHash)
        #expect(throws: Never.self) { try NoteText.validate(title: copy.title) }
        #expect(copy.title.hasSuffix("éé (conflict copy)"))
        #expect(copy.conflictCopy(hash: testHash).title == copy.title)
    }
}

/// Three machines that edit, remove and exchange notes at random.
@Suite("Machines that exchange notes in any order")
struct ConvergenceTests {
    private struct Machine {
        let name: String
        var notes: [UUID: Note] = [:]

        /// The notes but for the times of display.
        var state: [UUID: [String]] {
            notes.mapValues { note in
                ["\(note.version.wire.sorted { $0.key < $1.key })", "\(note.contentHash)", "\(note.isDeleted)"]
            }
        }

        mutating func receive(_ incoming: Note) {
            let outcome = merge(local: notes[incoming.id], incoming: incoming, hash: testHash)
            if let note = outcome.note { notes[incoming.id] = note }
            if case .conflict(_, let copy) = outcome { receive(copy) }
        }
    }

    private struct Simulation {
        var machines = ["A", "B", "C"].map { Machine(name: $0) }
        var random: SeededGenerator
        /// The texts that nobody has edited further or removed: each has to be somewhere in the end.
        var latest: Set<String> = []
        var edits = 0

        mutating func run(texts: Int?) throws {
            machines[0].receive(try makeNote("0", ["A": 1]))
            latest = ["0"]
            for _ in 0..<40 {
                let index = Int.random(in: 0..<3, using: &random)
                let live = machines[index].notes.values.sorted { $0.id.uuidString < $1.id.uuidString }
                guard let note = live.randomElement(using: &random) else {
                    exchange(from: Int.random(in: 0..<3, using: &random), to: index)
                    continue
                }
                switch Int.random(in: 0..<8, using: &random) {
                case 0 where !note.isDeleted:
                    let version = note.version.incremented(for: machines[index].name)
                    let time = Date(timeIntervalSince1970: 0)
                    machines[index].notes[note.id] = note.tombstone(version: version, at: time, hash: testHash)
                    latest.remove(note.content)
                case 1...4 where !note.isDeleted:
                    edits += 1
                    let text = texts.map { "\(edits % $0)" } ?? "\(edits)"
                    let version = note.version.incremented(for: machines[index].name).counters
                    machines[index].notes[note.id] = try makeNote(text, version, title: note.title, id: note.id)
                    latest.remove(note.content)
                    latest.insert(text)
                default:
                    let other = Int.random(in: 0..<3, using: &random)
                    if let some = machines[other].notes.values.sorted(by: { $0.id.uuidString < $1.id.uuidString })
                        .randomElement(using: &random)
                    {
                        machines[index].receive(some)
                    }
                }
            }
        }

        mutating func exchange(from source: Int, to target: Int) {
            for note in machines[source].notes.values.shuffled(using: &random) { machines[target].receive(note) }
        }

        /// Lets everyone hear everyone until nothing changes.
        mutating func settle() -> Bool {
            let pairs = [(0, 1), (1, 2), (2, 0), (1, 0), (2, 1), (0, 2)]
            for _ in 0..<20 {
                let before = machines.map(\.state)
                for (source, target) in pairs.shuffled(using: &random) { exchange(from: source, to: target) }
                if machines.map(\.state) == before { return true }
            }
            return false
        }
    }

    @Test("end with the same notes and lose no text", arguments: 0..<300 as Range<UInt64>)
    func unique(seed: UInt64) throws {
        var simulation = Simulation(random: SeededGenerator(seed: seed))
        try simulation.run(texts: nil)
        let isSettled = simulation.settle()
        #expect(isSettled)
        let states = simulation.machines.map(\.state)
        #expect(states[0] == states[1] && states[1] == states[2])
        for machine in simulation.machines {
            let live = Set(machine.notes.values.filter { !$0.isDeleted }.map(\.content))
            #expect(simulation.latest.subtracting(live) == [], "lost on \(machine.name)")
        }
    }

    @Test("end with the same notes when they type the same texts again", arguments: 0..<300 as Range<UInt64>)
    func repeated(seed: UInt64) throws {
        var simulation = Simulation(random: SeededGenerator(seed: seed))
        try simulation.run(texts: 3)
        let isSettled = simulation.settle()
        #expect(isSettled)
        let states = simulation.machines.map(\.state)
        #expect(states[0] == states[1] && states[1] == states[2])
    }
}
