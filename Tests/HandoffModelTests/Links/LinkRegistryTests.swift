import HandoffModel
import Testing

@Suite("One link between two peers")
struct LinkRegistryTests {
    private let a = LinkFixture.a
    private let b = LinkFixture.b

    @Test("When both dial at once, both ends keep the link that the lower pair dialled", arguments: [true, false])
    func simultaneousDials(lowerFirst: Bool) {
        var atA = LinkRegistry<String>(ourselves: a, capacity: 4)
        var atB = LinkRegistry<String>(ourselves: b, capacity: 4)
        if lowerFirst {
            #expect(atA.paired("by A", with: b, role: .dialler) == .keep)
            #expect(atB.paired("by A", with: a, role: .acceptor) == .keep)
            #expect(atA.paired("by B", with: b, role: .acceptor) == .probe("by A"))
            #expect(atB.paired("by B", with: a, role: .dialler) == .probe("by A"))
            #expect(atA.resolve("by B", role: .acceptor, isProbedAlive: true, of: b) == false)
            #expect(atB.resolve("by B", role: .dialler, isProbedAlive: true, of: a) == false)
        } else {
            #expect(atA.paired("by B", with: b, role: .acceptor) == .keep)
            #expect(atB.paired("by B", with: a, role: .dialler) == .keep)
            #expect(atA.paired("by A", with: b, role: .dialler) == .replace("by B"))
            #expect(atB.paired("by A", with: a, role: .acceptor) == .replace("by B"))
        }
        #expect(atA[b] == "by A")
        #expect(atB[a] == "by A")
    }

    @Test("A newer link in the same direction replaces the older")
    func newerReplaces() {
        var registry = LinkRegistry<String>(ourselves: a, capacity: 4)
        _ = registry.paired("old", with: b, role: .acceptor)
        #expect(registry.paired("new", with: b, role: .acceptor) == .replace("old"))
        #expect(registry.ended("old", of: b) == false)
        #expect(registry.ended("new", of: b) == true)
        #expect(registry[b] == nil)
    }

    @Test("A half-open link that does not answer gives way to a new one")
    func halfOpen() {
        var registry = LinkRegistry<String>(ourselves: a, capacity: 4)
        _ = registry.paired("half-open", with: b, role: .dialler)
        #expect(registry.paired("new", with: b, role: .acceptor) == .probe("half-open"))
        #expect(registry.resolve("new", role: .acceptor, isProbedAlive: false, of: b) == true)
        #expect(registry[b] == "new")
    }

    @Test("A probed link that ended meanwhile gives way, whatever it answered")
    func endedWhileProbed() {
        var registry = LinkRegistry<String>(ourselves: a, capacity: 4)
        _ = registry.paired("old", with: b, role: .dialler)
        _ = registry.paired("new", with: b, role: .acceptor)
        #expect(registry.ended("old", of: b) == true)
        #expect(registry.resolve("new", role: .acceptor, isProbedAlive: true, of: b) == true)
        #expect(registry[b] == "new")
    }

    @Test("Another run of the program on the same machine is another peer")
    func anotherInstance() {
        var registry = LinkRegistry<String>(ourselves: a, capacity: 4)
        _ = registry.paired("first", with: b, role: .acceptor)
        let restarted = PeerID(machine: b.machine, instance: LinkFixture.instance(3))
        #expect(registry.paired("second", with: restarted, role: .acceptor) == .keep)
    }

    @Test("A peer beyond the capacity is turned away, one that is linked already is not")
    func full() {
        var registry = LinkRegistry<String>(ourselves: a, capacity: 1)
        _ = registry.paired("first", with: b, role: .acceptor)
        let other = PeerID(machine: b.machine, instance: LinkFixture.instance(4))
        #expect(registry.paired("second", with: other, role: .acceptor) == .full)
        #expect(registry.paired("third", with: b, role: .acceptor) == .replace("first"))
    }
}
