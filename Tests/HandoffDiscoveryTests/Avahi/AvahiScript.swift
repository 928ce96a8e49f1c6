import CAvahi
import HandoffSupport
import Testing

@testable import HandoffDiscovery

/// Plays Avahi: feeds the machine events, turns its clock, and keeps account of the objects it holds.
struct Script {
    var machine = AvahiDiscovery.StateMachine(generator: Middle())
    var now: Duration = .zero
    var objects: [AvahiObjectID: AvahiObject] = [:]
    var emitted: [DiscoveryEvent] = []
    var answers: [DiscoveredService] = []
    var refusals: [DiscoveryError] = []

    /// No chance: every draw is the same.
    struct Middle: RandomNumberGenerator {
        mutating func next() -> UInt64 { .max / 2 }
    }

    mutating func advance(by duration: Duration = .zero) {
        now += duration
        take(machine.advance(now: now))
    }

    mutating func report(_ event: AvahiEvent) { take(machine.handle(event, now: now)) }

    mutating func ask(_ command: AvahiCommand) { take(machine.handle(command, now: now)) }

    /// The one object of a kind; a machine that holds none or two is wrong.
    func only(
        _ isMeant: (AvahiObject) -> Bool,
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws -> AvahiObjectID {
        let found = objects.filter { isMeant($0.value) }.map(\.key)
        try #require(found.count == 1, sourceLocation: sourceLocation)
        return found[0]
    }

    func client(sourceLocation: SourceLocation = #_sourceLocation) throws -> AvahiObjectID {
        try only({ $0 == .client }, sourceLocation: sourceLocation)
    }

    func browser(sourceLocation: SourceLocation = #_sourceLocation) throws -> AvahiObjectID {
        try only({ $0 == .browser }, sourceLocation: sourceLocation)
    }

    func resolver(_ key: ServiceKey, sourceLocation: SourceLocation = #_sourceLocation) throws -> AvahiObjectID {
        try only({ $0 == .resolver(key) }, sourceLocation: sourceLocation)
    }

    func group(sourceLocation: SourceLocation = #_sourceLocation) throws -> AvahiObjectID {
        try only({ if case .group = $0 { true } else { false } }, sourceLocation: sourceLocation)
    }

    var resolverCount: Int { objects.values.count { if case .resolver = $0 { true } else { false } } }

    var publishedNames: [String] {
        objects.values.compactMap { if case .group(let announcement) = $0 { announcement.instanceName } else { nil } }
    }

    mutating func takeEmitted() -> [DiscoveryEvent] {
        defer { emitted = [] }
        return emitted
    }

    /// Starts the machine with a daemon that is there.
    mutating func run() throws {
        advance()
        report(.clientChanged(try client(), .running))
    }

    private mutating func take(_ actions: [AvahiAction]) {
        for action in actions {
            switch action {
            case .open(let id, let object): objects[id] = object
            case .close(let id): #expect(objects.removeValue(forKey: id) != nil, "closed what is not open")
            case .closeClient: objects = [:]
            case .emit(let event): emitted.append(event)
            case .answer(let service): answers.append(service)
            case .refuse(let error): refusals.append(error)
            }
        }
    }
}

/// An announcement that becomes another one when its name is taken.
func announce(_ name: String, collidingTo fresh: String = "h-fresh") -> AvahiCommand {
    .announce(ServiceAnnouncement(instanceName: name, port: 4711, text: [])) { announcement in
        ServiceAnnouncement(instanceName: fresh, port: announcement.port, text: announcement.text)
    }
}

/// One appearance of a service.
func key(_ name: String, interface: Int32 = 2, family: Int = AVAHI_PROTO_INET) -> ServiceKey {
    ServiceKey(
        instanceName: name,
        place: ServicePlace(interface: interface, family: Int32(family), domain: "local")
    )
}
