import FoundationEssentials
import HandoffModel
import HandoffSupport
import Testing

@Suite("The last known addresses of peers")
struct KnownPeersTests {
    private static let now = Date(timeIntervalSince1970: 1_800_000_000)
    private let machine = LinkFixture.machineA
    private let other = LinkFixture.machineB

    private func address(_ last: UInt8, port: UInt16 = 24280) throws -> SocketAddress {
        try #require(SocketAddress(octets: [10, 77, 0, last], port: port))
    }

    @Test("are those of the latest links, the latest first, and no more than four of a peer")
    func latestFirst() throws {
        var known = KnownPeers()
        for last in 1...6 { known.linked(machine, at: [try address(UInt8(last))], on: Self.now) }
        #expect(known.places.map(\.addresses) == [["10.77.0.6", "10.77.0.5", "10.77.0.4", "10.77.0.3"]])
        known.linked(machine, at: [try address(4)], on: Self.now)
        #expect(try known[machine, 24280]?.socketAddresses.first == address(4))
    }

    @Test("are a place for each port of a machine")
    func ports() throws {
        var known = KnownPeers()
        known.linked(machine, at: [try address(1)], on: Self.now)
        known.linked(machine, at: [try address(1, port: 24281)], on: Self.now)
        #expect(known.places.map(\.port).sorted() == [24280, 24281])
    }

    @Test("are corrected where another machine answers")
    func corrected() throws {
        var known = KnownPeers()
        known.linked(machine, at: [try address(1), try address(2)], on: Self.now)
        known.linked(other, at: [try address(1)], on: Self.now)
        #expect(known[machine, 24280]?.addresses == ["10.77.0.2"])
        known.forget(try address(2))
        #expect(known[machine, 24280] == nil)
        #expect(known[other, 24280]?.addresses == ["10.77.0.1"])
    }

    @Test("are forgotten after thirty days, and beyond sixty-four; a time to come is now")
    func bounds() throws {
        var known = KnownPeers()
        known.linked(machine, at: [try address(1)], on: Self.now.addingTimeInterval(90 * 24 * 3600))
        let read = KnownPeers(known.places, at: Self.now)
        #expect(read.places.map(\.linked) == [Self.now])
        #expect(KnownPeers(read.places, at: Self.now.addingTimeInterval(31 * 24 * 3600)).places.isEmpty)
        for last in 1...70 {
            known = KnownPeers(known.places, at: Self.now)
            known.linked(UUID(), at: [try address(UInt8(last))], on: Self.now.addingTimeInterval(7200))
        }
        #expect(known.places.count == 64)
    }

    @Test("do not change with every link of one hour")
    func steady() throws {
        var known = KnownPeers()
        known.linked(machine, at: [try address(1)], on: Self.now)
        known.linked(other, at: [try address(2)], on: Self.now)
        let earlier = known
        known.linked(machine, at: [try address(1)], on: Self.now.addingTimeInterval(1))
        #expect(known == earlier)
    }
}
