import FuzzTargets
import Glibc

/// The target that `FUZZ_TARGET` names.
private let target: FuzzTarget = {
    guard let name = getenv("FUZZ_TARGET").map({ String(cString: $0) }), let target = FuzzTarget(rawValue: name) else {
        fatalError("FUZZ_TARGET has to be one of \(FuzzTarget.allCases.map(\.rawValue))")
    }
    return target
}()

/// What libFuzzer calls with each input; a rule that does not hold is a crash, which it keeps the input of.
@_cdecl("LLVMFuzzerTestOneInput")
public func testOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    do {
        try target.check(Array(UnsafeBufferPointer(start: start, count: count)))
    } catch {
        fatalError("broken: \(error)")
    }
    return 0
}
