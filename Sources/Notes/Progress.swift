import CommandLineKit

/// Tells how far a work is: what is worked on, what is done with it, and how many bytes of how many.
typealias TellProgress = @Sendable (_ name: String, _ stage: String, _ completed: Int64, _ total: Int64) -> Void

/// Shows how far something is while it is done.
///
/// - Parameters:
///   - isJSON: Whether a program reads.
///   - body: Does it, and tells how far it is.
func withProgress<Result: Sendable>(
    isJSON: Bool,
    _ body: @Sendable (_ tell: @escaping TellProgress) async throws -> Result
) async throws -> Result {
    typealias Step = (name: String, stage: String, completed: Int64, total: Int64)
    let (stream, continuation) = AsyncStream.makeStream(of: Step.self, bufferingPolicy: .bufferingNewest(1))
    async let shown: Void = {
        var display = ProgressDisplay(isJSON ? .events : .on(.standardError(environment: environment)))
        for await step in stream {
            display.show(step.name, stage: step.stage, completed: step.completed, total: step.total)
        }
        display.end()
    }()
    defer { continuation.finish() }
    let result = try await body { continuation.yield(($0, $1, $2, $3)) }
    continuation.finish()
    await shown
    return result
}
