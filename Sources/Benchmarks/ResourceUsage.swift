import Glibc

/// What this process has used so far.
enum ResourceUsage {
    /// Processor time in seconds, and the most memory resident at once in KiB, as two members of a JSON object.
    static var json: String {
        var usage = rusage()
        getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
        func seconds(_ time: timeval) -> Double { Double(time.tv_sec) + Double(time.tv_usec) / 1e6 }
        let processor = seconds(usage.ru_utime) + seconds(usage.ru_stime)
        return "\"processorSeconds\":\(processor),\"residentKiB\":\(usage.ru_maxrss)"
    }
}
