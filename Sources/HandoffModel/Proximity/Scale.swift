/// The steps of a scale, each of which is left only where a value is clearly past its bound: noise at a bound moves nothing.
struct Scale<Value: Comparable & Sendable>: Sendable {
    /// Where a step ends and the next one begins.
    struct Bound: Sendable {
        /// A value up to here goes back to the step below.
        let lower: Value
        /// What divides the two steps where none was known before.
        let middle: Value
        /// A value over this goes on to the step above.
        let upper: Value
    }

    let bounds: [Bound]

    /// The step of a value, from 0.
    ///
    /// - Parameters:
    ///   - value: What is measured.
    ///   - previous: The step before; nil where there was none.
    func step(of value: Value, after previous: Int?) -> Int {
        var step = previous ?? bounds.firstIndex { value <= $0.middle } ?? bounds.count
        while step < bounds.count, value > bounds[step].upper { step += 1 }
        while step > 0, value <= bounds[step - 1].lower { step -= 1 }
        return step
    }
}
