import CAvahi
import HandoffSupport

extension AvahiDiscovery {
    /// The life of the one client, and with it of everything that hangs on it.
    ///
    /// Events go in, actions come out; the engine carries them out. No call is made and no clock is read here.
    struct StateMachine {
        private enum Client {
            case closed(until: Duration)
            case open(AvahiObjectID, since: Duration, isServing: Bool)
        }

        /// A client that took longer to make waited in vain for a daemon that hangs (libavahi gives up after 25 s), and
        /// then takes it for absent: nothing would ever tell it of the daemon's recovery.
        private static let openingLimit: Duration = .seconds(5)
        /// A client that lived as long was no part of a series of failures.
        private static let steadyLife: Duration = .seconds(10)

        private var turn: AvahiTurn
        private var client = Client.closed(until: .zero)
        private var backoff = Backoff(first: .milliseconds(200), limit: .seconds(10))
        private var availability: DiscoveryEvent?
        private var publication = AvahiPublication()
        private var table = AvahiServiceTable()

        init(generator: any RandomNumberGenerator = SystemRandomNumberGenerator()) {
            turn = AvahiTurn(generator: generator)
        }

        /// When `advance` is to be called next; nil where nothing waits for time to pass.
        var deadline: Duration? {
            var deadlines = [publication.deadline, table.deadline].compactMap { $0 }
            if case .closed(let until) = client { deadlines.append(until) }
            return deadlines.min()
        }

        /// Does what has become due; the first call starts the machine.
        mutating func advance(now: Duration) -> [AvahiAction] {
            turn.now = now
            if case .closed(let until) = client, until <= now {
                client = .open(turn.open(.client), since: now, isServing: false)
            }
            publication.advance(&turn)
            table.advance(&turn)
            return turn.takeActions()
        }

        /// Does what a user asks for.
        mutating func handle(_ command: AvahiCommand, now: Duration) -> [AvahiAction] {
            turn.now = now
            switch command {
            case .announce(let announcement, let onCollision):
                publication.announce(announcement, onCollision: onCollision, &turn)
            case .withdraw:
                publication.withdraw(&turn)
            case .want(let instanceName):
                if case .unavailable(let error) = availability {
                    turn.act(.refuse(error))
                } else {
                    table.want(instanceName, &turn)
                }
            case .forget(let instanceName):
                table.forget(instanceName)
            }
            return turn.takeActions()
        }

        /// Takes in what Avahi reported; the events of objects that were closed are dropped.
        mutating func handle(_ event: AvahiEvent, now: Duration) -> [AvahiAction] {
            turn.now = now
            switch event {
            case .clientChanged(let id, let phase): clientChanged(id, to: phase)
            case .established(let id): publication.established(id, &turn)
            case .appeared(let id, let key): table.appeared(id, key, &turn)
            case .disappeared(let id, let key): table.disappeared(id, key, &turn)
            case .allForNow(let id): table.allForNow(id, &turn)
            case .answered(let id, let answer): table.answered(id, answer, &turn)
            case .failed(let id, let code): failed(id, code: code)
            }
            return turn.takeActions()
        }

        private mutating func clientChanged(_ id: AvahiObjectID, to phase: AvahiClientPhase) {
            guard case .open(id, let since, let isServing) = client else { return }
            if phase == .connecting {
                if turn.now - since > Self.openingLimit {
                    clientLost(.noAnswer())
                } else {
                    unavailable(.noDaemon())
                }
                return
            }
            if !isServing {
                client = .open(id, since: turn.now, isServing: true)
                tell(.available)
                table.open(&turn)
            }
            publication.hostChanged(isReady: phase == .running, &turn)
        }

        private mutating func failed(_ id: AvahiObjectID, code: Int32) {
            if case .open(id, _, let isServing) = client {
                // DISCONNECTED comes from a client that was made; any other code before it served, from one that was not.
                let hadBus = isServing || code == Int32(AVAHI_ERR_DISCONNECTED)
                clientLost(hadBus ? DiscoveryError(avahiCode: code) : .noBus(rawCode: code))
            } else if publication.owns(id) || table.owns(id) {
                if AvahiFailure(code: code) == .connectionLost {
                    clientLost(DiscoveryError(avahiCode: code))
                } else if publication.owns(id) {
                    publication.failed(code: code, &turn)
                } else {
                    table.failed(id, &turn)
                }
            }
        }

        private mutating func clientLost(_ error: DiscoveryError) {
            if case .open(_, let since, true) = client, turn.now - since >= Self.steadyLife { backoff.reset() }
            turn.act(.closeClient)
            publication.clientClosed()
            table.clientClosed()
            client = .closed(until: turn.now + turn.pause(&backoff))
            unavailable(error)
        }

        private mutating func unavailable(_ error: DiscoveryError) {
            tell(.unavailable(error))
            table.forgetAll()
            turn.act(.refuse(error))
        }

        private mutating func tell(_ event: DiscoveryEvent) {
            guard event != availability else { return }
            availability = event
            turn.act(.emit(event))
        }
    }
}
