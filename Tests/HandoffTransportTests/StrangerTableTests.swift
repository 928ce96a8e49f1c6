import Testing

@testable import HandoffTransport

@Suite("The table of strangers")
struct StrangerTableTests {
    @Test("The oldest goes, from the address that holds the most")
    func evictsFromTheBusiest() {
        var table = StrangerTable(capacity: 3)
        #expect(table.admit(1, from: [1]) == nil)
        #expect(table.admit(2, from: [2]) == nil)
        #expect(table.admit(3, from: [2]) == nil)
        #expect(table.admit(4, from: [3]) == 2)
        #expect(table.count == 3)
    }

    @Test("Where descriptors are few room is made before it is full, and no more come in until all have gone")
    func tightens() {
        var table = StrangerTable(capacity: 3)
        #expect(table.tighten() == nil)
        _ = table.admit(1, from: [1])
        _ = table.admit(2, from: [2])
        #expect(table.tighten() == 1)
        #expect([table.admit(3, from: [3]), table.admit(4, from: [4])] == [nil, 2])
        for id: UInt64 in 3...4 { table.remove(id) }
        #expect([5, 6, 7, 8].map { table.admit($0, from: [1]) } == [nil, nil, nil, 5])
    }

    @Test("Where all hold the same, the oldest goes")
    func evictsTheOldest() {
        var table = StrangerTable(capacity: 2)
        _ = table.admit(1, from: [1])
        _ = table.admit(2, from: [2])
        #expect(table.admit(3, from: [3]) == 1)
    }

    @Test("Who has proved itself makes room and is never evicted")
    func sparesTheProven() {
        var table = StrangerTable(capacity: 1)
        _ = table.admit(1, from: [1])
        table.remove(1)
        #expect(table.admit(2, from: [1]) == nil)
    }
}
