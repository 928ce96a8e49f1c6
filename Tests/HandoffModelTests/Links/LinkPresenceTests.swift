import HandoffModel
import Testing

@Suite("The presence of a peer")
struct LinkPresenceTests {
    /// Lets time pass from deadline to deadline, answering pings until `silence`, and tells what happened when.
    private func run(
        _ presence: inout LinkPresence,
        until end: Duration,
        answering roundTrip: Duration = .milliseconds(3),
        silentFrom silence: Duration = .seconds(100_000)
    ) -> [(Duration, LinkPresence.Action)] {
        var events: [(Duration, LinkPresence.Action)] = []
        while presence.deadline <= end {
            let now = presence.deadline
            let actions = presence.due(at: now)
            events += actions.map { (now, $0) }
            for case .ping(let sequence) in actions where now < silence {
                presence.pong(sequence: sequence, at: now + roundTrip)
            }
            if actions.contains(.lost) { break }
        }
        return events
    }

    @Test("An idle link is pinged at its start and then once a minute")
    func idle() {
        var presence = LinkPresence(at: .zero)
        let events = run(&presence, until: .seconds(200))
        #expect(events.count == 4)
        #expect(presence.latency?.value == .milliseconds(3))
    }

    @Test("A link with an offer is pinged every 4 s, from the moment it has one")
    func offering() {
        var presence = LinkPresence(at: .zero)
        _ = run(&presence, until: .seconds(1))
        presence.isOffering = true
        #expect(run(&presence, until: .seconds(41)).count == 10)
    }

    @Test("An offering peer that falls silent is gone in at most 8 s", arguments: [1, 500, 3999, 4001, 9000])
    func silentPeerIsLost(silence: Int) throws {
        var presence = LinkPresence(at: .zero)
        presence.isOffering = true
        let start = Duration.milliseconds(silence)
        let events = run(&presence, until: .seconds(60), silentFrom: start)
        let end = try #require(events.last)
        #expect(end.1 == .lost)
        #expect(end.0 - start <= .seconds(8))
        #expect(presence.isSuspect)
    }

    @Test("A slow answer within four round trips does not make a peer suspect")
    func slowPeer() {
        var presence = LinkPresence(at: .zero)
        presence.isOffering = true
        let events = run(&presence, until: .seconds(60), answering: .milliseconds(900))
        #expect(!events.contains { $0.1 == .lost })
        #expect(!presence.isSuspect)
    }

    @Test("One late answer ends the suspicion, and is not taken for the answer to a newer ping")
    func lateAnswer() {
        var presence = LinkPresence(at: .zero)
        #expect(presence.due(at: .zero) == [.ping(sequence: 1)])
        #expect(presence.due(at: .seconds(1)) == [.ping(sequence: 2)])
        #expect(presence.isSuspect)
        presence.pong(sequence: 1, at: .milliseconds(1001))
        #expect(!presence.isSuspect)
        #expect(presence.latency == nil)
        presence.pong(sequence: 2, at: .milliseconds(1005))
        #expect(presence.latency?.value == .milliseconds(5))
    }

    @Test("A peer whose answer waits behind much else is asked again and not suspected")
    func busyPeer() {
        var presence = LinkPresence(at: .zero)
        #expect(presence.due(at: .zero) == [.ping(sequence: 1)])
        for second in 1...10 {
            presence.heard(at: .seconds(second) - .milliseconds(1))
            #expect(presence.due(at: .seconds(second)) == [.ping(sequence: second + 1)])
        }
        #expect(!presence.isSuspect)
        #expect(presence.due(at: .seconds(11)) == [.ping(sequence: 12)])
        #expect(presence.isSuspect)
    }

    @Test("A probe pings at once, but not beside a ping that waits for its answer")
    func probe() {
        var presence = LinkPresence(at: .zero)
        #expect(presence.probe(at: .zero) == [.ping(sequence: 1)])
        #expect(presence.probe(at: .zero) == [])
    }

    @Test("Bursts replace pings, and come in between only while the latency is not steady")
    func measuring() {
        var presence = LinkPresence(at: .zero)
        presence.isOffering = true
        presence.measure(true, at: .zero)
        let events = run(&presence, until: .seconds(64))
        // Bursts at 0, 1, 2, 6, 14, 22 … 62 s, and a ping between two of them.
        #expect(events.count == 11 * 4 + 7)
        #expect(presence.latency?.burstCount == 3)
        #expect(presence.latency?.value == .milliseconds(3))
        presence.measure(false, at: .seconds(64))
        #expect(run(&presence, until: .seconds(104)).count == 10)
        #expect(presence.latency?.burstCount == 0)
    }

    @Test("A measured peer that falls silent is gone in at most 8 s, too, and is not measured meanwhile")
    func silentWhileMeasured() throws {
        for silence in stride(from: 1, through: 20_000, by: 333) {
            var presence = LinkPresence(at: .zero)
            presence.isOffering = true
            presence.measure(true, at: .zero)
            let start = Duration.milliseconds(silence)
            let events = run(&presence, until: .seconds(60), silentFrom: start)
            let end = try #require(events.last)
            #expect(end.1 == .lost)
            #expect(end.0 - start <= .seconds(8))
            #expect(events.count { $0.0 >= start && $0.1 != .lost } <= 4)
        }
    }
}
