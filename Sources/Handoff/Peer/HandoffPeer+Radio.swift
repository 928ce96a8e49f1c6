import FoundationEssentials
import HandoffModel
public import HandoffRadio
import HandoffSupport
import HandoffTransport

/// What is heard of other machines by radio.
struct Hearing {
    /// Whom it matters to hear, and by which key they are known.
    struct Interest: Equatable {
        var machines: Set<UUID> = []
        var isListening = false
        var key: [UInt8] = []
    }

    var interest = Interest()
    var machines: [[UInt8]: UUID] = [:]
    var bluetooth: [UUID: SignalFilter] = [:]
    var wifi: [UUID: SignalFilter] = [:]
    var state: RadioState?
    var reading: WiFiRadio.Reading?

    /// How strongly a machine is heard; of two radios by the one that needs no access point.
    func signal(of machine: UUID, at now: Duration) -> SignalReading? {
        bluetooth[machine]?.reading(at: now) ?? wifi[machine]?.reading(at: now)
    }
}

/// How strongly other machines are heard: that orders peers that are paired already, and grants nothing
/// (docs/proximity.md, "Signal").
extension HandoffPeer {
    /// How often the kernel is asked while somebody wants to know, and how often where it has nothing to tell.
    private static let wifiInterval = Duration.seconds(1)
    private static let wifiPause = Duration.seconds(60)

    /// Whether the radio can be used; nil where there is none, or nothing is known yet.
    public var radioState: RadioState? { hearing.state }
    /// What the kernel told last of this machine's Wi-Fi; nil where it was not asked.
    public var wifiReading: WiFiRadio.Reading? { hearing.reading }

    func useRadio() async {
        followHearing()
        guard let radio else { return }
        await withDiscardingTaskGroup { group in
            group.addTask { await radio.run() }
            group.addTask { await self.listen(to: radio) }
        }
    }

    private func listen(to radio: any RadioSource) async {
        while let event = try? await radio.events.next() {
            switch event {
            case .state(let state):
                hearing.state = state
                log(.info, "\(state)")
                changed()
            case .sample(let sample):
                guard let machine = hearing.machines[sample.tag.bytes] else { continue }
                hearing.bluetooth[machine, default: SignalFilter()].add(sample.rssi, at: sample.time)
                measured()
            }
        }
    }

    /// Listens while there is a choice to make: to the machines that are linked, while two or more offer something.
    func followHearing() {
        guard radio != nil || wifi != nil, !isStopping else { return }
        let interest = Hearing.Interest(
            machines: Set(linkedPeers().map(\.peer.id.machine)),
            isListening: configuration.isVisitor || links.values.count { !$0.offers.isEmpty } > 1,
            key: context.identity.discoveryKey
        )
        guard interest != hearing.interest else { return }
        hearing.interest = interest
        hearing.bluetooth = hearing.bluetooth.filter { interest.machines.contains($0.key) }
        hearing.wifi = hearing.wifi.filter { interest.machines.contains($0.key) }
        spawn { await self.renewTags() }
        wifiAlarm.set(at: clock.now) { [weak self] in await self?.readWiFi() }
    }

    /// Changes what others hear of this machine, and by what it knows them: each quarter hour, so that nobody follows it.
    private func renewTags() async {
        guard let radio, !isStopping else { return }
        let (now, interest) = (seconds, hearing.interest)
        let tags = RadioTags { Crypto.hmacSHA256(key: $0, message: $1) }
        hearing.machines = tags.machines(Array(interest.machines), at: now, keys: membership.discoveryKeys())
        tagAlarm.set(at: clock.now + .seconds(RadioTags.remaining(at: now))) { [weak self] in await self?.renewTags() }
        let tag = tags.tag(of: id.machine, at: now, key: interest.key)
        await radio.setTag(configuration.isVisitor ? nil : RadioPayload(tag))
        await radio.setListening(interest.isListening)
    }

    private func readWiFi() async {
        guard let wifi, hearing.interest.isListening, !isStopping else { return }
        let reading = try? await wifi.read()
        if hearing.reading != reading {
            hearing.reading = reading
            changed()
        }
        var pause = Self.wifiPause
        if case .stations(let stations)? = reading {
            pause = Self.wifiInterval
            let peers = linkedPeers()
            for station in stations {
                let octets = Set(station.addresses.map(\.octets))
                for entry in peers where octets.contains(entry.link.connection.remoteAddress.octets) {
                    hearing.wifi[entry.peer.id.machine, default: SignalFilter()].add(station.rssi, at: clock.now)
                }
            }
            measured()
        }
        wifiAlarm.set(at: clock.now + pause) { [weak self] in await self?.readWiFi() }
    }
}
