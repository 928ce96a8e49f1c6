import CommandLineKit
import Handoff
import HandoffRadio
import HandoffSupport

/// `handoff-bench radio`: what this machine's radios hear, and what the peer would make of it.
struct RadioTrial {
    private let tag: RadioPayload?
    private let limit: Duration

    init(_ arguments: Arguments) throws {
        limit = .seconds(try arguments.number("seconds", in: 1...86_400) ?? 60)
        tag = try arguments["tag"].map { text in
            guard let bytes = BaseEncoding.decodeHexadecimal(text), let tag = RadioPayload(bytes) else {
                throw CommandFailure.usage("a tag has 2 to \(2 * RadioPayload.maximumSize) hexadecimal digits")
            }
            return tag
        }
    }

    func run() async throws -> ExitCode {
        switch try await WiFiRadio().read() {
        case .stations(let stations):
            for station in stations {
                let addresses = station.addresses.map(\.host).joined(separator: " ")
                let hardware = BaseEncoding.hexadecimal(station.hardwareAddress)
                try StandardOutput.write("wi-fi \(hardware) \(station.rssi) dBm \(addresses)\n")
            }
        case let reading: try StandardOutput.write("wi-fi: \(reading)\n")
        }
        let radio = BlueZRadio()
        await radio.setTag(tag)
        await radio.setListening(true)
        try await withThrowingTaskGroup(of: Void.self) { [limit] group in
            group.addTask { await radio.run() }
            group.addTask { try await Self.report(radio.events) }
            try await MonotonicClock.system.sleep(for: limit)
            group.cancelAll()
            while let result = await group.nextResult() {
                if case .failure(let error) = result, !(error is CancellationError) { throw error }
            }
        }
        return .done
    }

    private static func report(_ events: RadioEvents) async throws {
        var filters: [RadioPayload: SignalFilter] = [:]
        for try await event in events {
            switch event {
            case .state(let state): try StandardOutput.write("bluetooth: \(state)\n")
            case .sample(let sample):
                // Strangers may say any number of tags; this is for people who look on.
                if filters.count >= RadioEvents.maximumSamples { filters = [:] }
                filters[sample.tag, default: SignalFilter()].add(sample.rssi, at: sample.time)
                let reading = filters[sample.tag]?.reading(at: sample.time).map {
                    ", smoothed \(Int($0.level.rounded())) dBm, \($0.zone)"
                }
                let tag = BaseEncoding.hexadecimal(sample.tag.bytes)
                try StandardOutput.write("bluetooth \(tag) \(sample.rssi) dBm\(reading ?? "")\n")
            }
        }
    }
}
