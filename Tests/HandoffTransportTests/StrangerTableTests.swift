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
