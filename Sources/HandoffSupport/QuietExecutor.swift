import Dispatch

/// Runs tasks on one thread of its own, in place of Swift's pool, so that an idle program sleeps.
///
/// On Linux, libdispatch watches the threads of the queues behind Swift's pool and wakes the process once a second for
/// as long as it lives, from the first task that runs there; it does not watch a serial queue. A program prefers this
/// executor for its main task, whose child tasks and actors follow; a task without a parent is given it by name.
public final class QuietExecutor: TaskExecutor {
    /// The one of this process: an executor that only orders what others wait for, as Swift's pool is one.
    public static let shared = QuietExecutor()

    /// The queue behind it, for event sources whose handlers only wake a task.
    let queue = DispatchQueue(label: "handoff.tasks")

    private init() {}

    /// Runs a job of a task on the queue.
    public func enqueue(_ job: consuming ExecutorJob) {
        let unowned = UnownedJob(job)
        let executor = asUnownedTaskExecutor()
        queue.async { unowned.runSynchronously(on: executor) }
    }
}
