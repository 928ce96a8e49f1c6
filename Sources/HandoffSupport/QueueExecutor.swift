public import Dispatch

/// A serial executor on a Dispatch queue, for actors at the edge of the system.
///
/// An actor on such an executor may block without starving the cooperative pool (which has one thread a core), and an
/// event handler of a Dispatch source on the same queue may enter it by `assumeIsolated`.
public final class QueueExecutor: SerialExecutor {
    /// The serial queue that the actor's jobs run on; event sources of the actor belong here too.
    public let queue: DispatchQueue

    /// Makes an executor with a queue of its own.
    ///
    /// - Parameter label: The queue's label in debuggers.
    public init(label: String) {
        queue = DispatchQueue(label: label)
    }

    /// Runs a job of the actor on the queue.
    public func enqueue(_ job: consuming ExecutorJob) {
        let unowned = UnownedJob(job)
        let executor = asUnownedSerialExecutor()
        queue.async { unowned.runSynchronously(on: executor) }
    }

    /// Traps where the caller is not on the queue.
    public func checkIsolated() {
        dispatchPrecondition(condition: .onQueue(queue))
    }
}
