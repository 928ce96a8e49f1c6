/// Names one C object for as long as the process lives, so that the late event of a freed one is known for what it is.
struct AvahiObjectID: Hashable, Sendable {
    let number: UInt64
}

/// A C object that the state machine wants to have.
enum AvahiObject: Equatable, Sendable {
    case client
    case browser
    case resolver(ServiceKey)
    /// An entry group, filled and committed.
    case group(ServiceAnnouncement)
}

/// One appearance of a service: Avahi tells each interface and protocol apart.
struct ServiceKey: Hashable, Sendable {
    let instanceName: String
    let place: ServicePlace
}

/// Where a service was seen.
struct ServicePlace: Hashable, Comparable, Sendable {
    /// The interface's index.
    let interface: Int32
    /// `AVAHI_PROTO_INET` or `AVAHI_PROTO_INET6`: what its records were heard over.
    let family: Int32
    /// `local`, or what the daemon's configuration says in its place.
    let domain: String

    static func < (left: ServicePlace, right: ServicePlace) -> Bool {
        (left.interface, left.family, left.domain) < (right.interface, right.family, right.domain)
    }
}

/// What Avahi reported, copied out of its callback.
enum AvahiEvent: Equatable, Sendable {
    case clientChanged(AvahiObjectID, AvahiClientPhase)
    case established(AvahiObjectID)
    case appeared(AvahiObjectID, ServiceKey)
    case disappeared(AvahiObjectID, ServiceKey)
    case allForNow(AvahiObjectID)
    case answered(AvahiObjectID, ServiceAnswer)
    /// The object could not be made, or does not work any more: an Avahi error code.
    case failed(AvahiObjectID, Int32)
}

/// The states of a client that is not dead.
enum AvahiClientPhase: Equatable, Sendable {
    /// The bus is there, the daemon is not.
    case connecting
    /// The daemon is there, but looks for a host name that nobody else has.
    case registering
    case running
}

/// What users of the discovery ask for.
enum AvahiCommand: Sendable {
    case announce(ServiceAnnouncement, onCollision: @Sendable (ServiceAnnouncement) -> ServiceAnnouncement)
    case withdraw
    /// Somebody waits for a fresh answer about a service.
    case want(instanceName: String)
    /// Nobody does any more.
    case forget(instanceName: String)
}

/// What the state machine wants to be done.
enum AvahiAction: Equatable, Sendable {
    case open(AvahiObjectID, AvahiObject)
    case close(AvahiObjectID)
    /// Frees the client, and all other objects with it.
    case closeClient
    case emit(DiscoveryEvent)
    /// Answers those who wait for this service.
    case answer(DiscoveredService)
    /// Refuses all who wait for any service.
    case refuse(DiscoveryError)
}
