/// A number of bytes as people read it: two or three digits and a decimal unit, "1.3 GB".
public func byteText(_ bytes: Int64) -> String {
    let units = ["B", "kB", "MB", "GB", "TB", "PB", "EB"]
    var (unit, divisor) = (0, Int64(1))
    // From 999.5 on, rounding would show a thousand.
    while unit < units.count - 1, Double(bytes) / Double(divisor) >= (unit == 0 ? 1_000 : 999.5) {
        unit += 1
        divisor *= 1_000
    }
    let tenths = Int64((Double(bytes) / Double(divisor) * 10).rounded())
    let hasTenths = unit > 0 && tenths < 100
    let number = hasTenths ? "\(tenths / 10).\(tenths % 10)" : "\(Int64((Double(bytes) / Double(divisor)).rounded()))"
    return "\(number) \(units[unit])"
}

/// A span as people read it, in its two largest units: "45 s", "2 min 5 s", "3 h 20 min".
public func durationText(_ duration: Duration) -> String {
    let seconds = max(0, duration.components.seconds)
    switch seconds {
    case ..<60: return "\(seconds) s"
    case ..<3_600: return "\(seconds / 60) min \(seconds % 60) s"
    default: return "\(seconds / 3_600) h \(seconds % 3_600 / 60) min"
    }
}
