import HandoffSupport

/// What the parts of the state machine share while they handle one event: the time, chance, and what is to be done.
struct AvahiTurn {
    var now: Duration = .zero
    private var actions: [AvahiAction] = []
    private var lastID: UInt64 = 0
    private var generator: any RandomNumberGenerator

    init(generator: any RandomNumberGenerator) {
        self.generator = generator
    }

    mutating func open(_ object: AvahiObject) -> AvahiObjectID {
        lastID += 1
        let id = AvahiObjectID(number: lastID)
        actions.append(.open(id, object))
        return id
    }

    mutating func act(_ action: AvahiAction) {
        actions.append(action)
    }

    mutating func pause(_ backoff: inout Backoff) -> Duration {
        backoff.pause(using: &generator)
    }

    mutating func takeActions() -> [AvahiAction] {
        defer { actions = [] }
        return actions
    }
}
