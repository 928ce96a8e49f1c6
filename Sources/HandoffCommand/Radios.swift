import Handoff

/// What the radios say of themselves, for `--explain`: why there is no signal.
struct Radios: Encodable {
    private let bluetooth: String
    private let wifi: String

    init(_ state: RadioState?, _ reading: WiFiRadio.Reading?) {
        bluetooth = state?.description ?? "the system's message bus has not answered yet"
        wifi = reading?.description ?? "the kernel does not tell Wi-Fi's signals"
    }

    /// One for each, for people.
    var lines: [String] { ["Bluetooth: \(bluetooth)", "Wi-Fi: \(wifi)"] }
}
