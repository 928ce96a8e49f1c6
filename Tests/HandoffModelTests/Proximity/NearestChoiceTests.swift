import HandoffModel
import Testing

@Suite("The choice of the nearest")
struct NearestChoiceTests {
    private func peer(_ byte: UInt8) -> PeerID {
        PeerID(machine: LinkFixture.machineA, instance: LinkFixture.instance(byte))
    }

    private func sample(
        _ byte: UInt8,
        _ milliseconds: Double?,
        level: Double? = nil,
        isSuspect: Bool = false,
        lastUse: Duration? = nil
    ) -> ProximitySample {
        ProximitySample(
            peer: peer(byte),
            latency: milliseconds.map { LatencyReading(.milliseconds($0)) },
            signal: level.map { SignalReading(level: $0) },
            isSuspect: isSuspect,
            lastUse: lastUse
        )
    }

    private func settle(_ choice: inout NearestChoice, _ seconds: Double, _ samples: ProximitySample...) -> [PeerID] {
        choice.settle(Ranking.order(samples), at: .seconds(seconds)).map(\.sample.peer)
    }

    @Test("Another one has to be clearly nearer for 3 s")
    func lead() {
        var choice = NearestChoice()
        #expect(settle(&choice, 0, sample(1, 1), sample(2, 20)) == [peer(1), peer(2)])
        #expect(settle(&choice, 10, sample(1, 50), sample(2, 5)) == [peer(1), peer(2)])
        #expect(settle(&choice, 12.9, sample(1, 50), sample(2, 5)) == [peer(1), peer(2)])
        #expect(settle(&choice, 13, sample(1, 50), sample(2, 5)) == [peer(2), peer(1)])
    }

    @Test("A lead that is interrupted begins anew")
    func interrupted() {
        var choice = NearestChoice()
        _ = settle(&choice, 0, sample(1, 1), sample(2, 20))
        _ = settle(&choice, 10, sample(1, 50), sample(2, 5))
        _ = settle(&choice, 12, sample(1, 1), sample(2, 5))
        #expect(settle(&choice, 13, sample(1, 50), sample(2, 5)).first == peer(1))
        #expect(settle(&choice, 15.9, sample(1, 50), sample(2, 5)).first == peer(1))
        #expect(settle(&choice, 16, sample(1, 50), sample(2, 5)).first == peer(2))
    }

    @Test("Two changes are 5 s apart")
    func hold() {
        var choice = NearestChoice()
        _ = settle(&choice, 0, sample(1, 1), sample(2, 20))
        #expect(settle(&choice, 1, sample(1, 50), sample(2, 5)).first == peer(1))
        #expect(settle(&choice, 4.9, sample(1, 50), sample(2, 5)).first == peer(1))
        #expect(settle(&choice, 5, sample(1, 50), sample(2, 5)).first == peer(2))
    }

    @Test("Who is gone or suspect is replaced at once")
    func gone() {
        var choice = NearestChoice()
        _ = settle(&choice, 0, sample(1, 1), sample(2, 20))
        #expect(settle(&choice, 1, sample(1, 1, isSuspect: true), sample(2, 20)) == [peer(2), peer(1)])
        _ = settle(&choice, 2, sample(1, 1), sample(2, 20))
        #expect(settle(&choice, 3, sample(1, 1)) == [peer(1)])
        #expect(settle(&choice, 4) == [])
        #expect(settle(&choice, 5, sample(2, 20)) == [peer(2)])
    }

    @Test("Who has just appeared, or was just measured, need not wait; but has to be clearly nearer")
    func news() {
        var choice = NearestChoice()
        _ = settle(&choice, 0, sample(5, 20))
        #expect(settle(&choice, 1, sample(5, 20), sample(1, 20)).first == peer(5))
        #expect(settle(&choice, 2, sample(5, 20), sample(1, 20), sample(7, nil)).first == peer(5))
        #expect(settle(&choice, 3, sample(5, 20), sample(1, 20), sample(7, 1)).first == peer(7))
    }

    @Test("Differences of less than 8 dB, 2 ms or a half are noise, and ids are no reason")
    func unclear() {
        var choice = NearestChoice()
        _ = settle(&choice, 0, sample(5, 3, level: -58))
        for second in 1...20 {
            let order = settle(&choice, Double(second), sample(5, 3, level: -58), sample(1, 3, level: -51))
            #expect(order.first == peer(5))
        }
        choice = NearestChoice()
        _ = settle(&choice, 0, sample(5, 2.6))
        for second in 1...20 {
            #expect(settle(&choice, Double(second), sample(5, 2.6), sample(1, 1.2)).first == peer(5))
        }
        choice = NearestChoice()
        _ = settle(&choice, 0, sample(5, 35))
        for second in 1...20 {
            #expect(settle(&choice, Double(second), sample(5, 35), sample(1, 28)).first == peer(5))
        }
        choice = NearestChoice()
        _ = settle(&choice, 0, sample(5, 1))
        for second in 1...20 { #expect(settle(&choice, Double(second), sample(5, 1), sample(1, 1)).first == peer(5)) }
    }

    @Test("Use is a reason, after 3 s")
    func use() {
        var choice = NearestChoice()
        _ = settle(&choice, 0, sample(1, 1), sample(2, 1))
        _ = settle(&choice, 10, sample(1, 1), sample(2, 1, lastUse: .seconds(9)))
        #expect(settle(&choice, 13, sample(1, 1), sample(2, 1, lastUse: .seconds(9))).first == peer(2))
    }

    @Test("Who is kept says so, and the others' reasons are theirs")
    func reasons() {
        var choice = NearestChoice()
        _ = settle(&choice, 0, sample(1, 1), sample(2, 20), sample(3, 90))
        let order = choice.settle(Ranking.order([sample(1, 50), sample(2, 5), sample(3, 90)]), at: .seconds(1))
        #expect(order.map(\.reason) == [.heldAgainst(peer(2)), .nearerClass(own: 2, next: 4), .last])
    }
}
